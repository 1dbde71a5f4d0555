/* SPDX-License-Identifier: Apache-2.0
 *
 * Of launches, the one after the n-th fails.
 */
#include "mutant_fault.h"

void kw_mutant_change(kw_mutant *mutant) {
  kw_mutant_fault_group(mutant, (kw_mutant_faults){.off_by_one = true});
}
