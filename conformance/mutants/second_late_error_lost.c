/* SPDX-License-Identifier: Apache-2.0
 *
 * There is one place for a late error: what fails on another stream before somebody has waited is not told.
 */
#include "mutant_fault.h"

void kw_mutant_change(kw_mutant *mutant) {
  kw_mutant_fault_group(mutant, (kw_mutant_faults){.tells_first_alone = true});
}
