/* SPDX-License-Identifier: Apache-2.0
 *
 * Work that was to be held goes on.
 */
#include "mutant_fault.h"

void kw_mutant_change(kw_mutant *mutant) {
  kw_mutant_fault_group(mutant, (kw_mutant_faults){.lets_go = true});
}
