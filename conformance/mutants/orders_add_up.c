/* SPDX-License-Identifier: Apache-2.0
 *
 * A new order does not take the place of the one before: what that still had to count is counted first.
 */
#include "mutant_fault.h"

void kw_mutant_change(kw_mutant *mutant) {
  kw_mutant_fault_group(mutant, (kw_mutant_faults){.counts_on = true});
}
