/* SPDX-License-Identifier: Apache-2.0
 *
 * A device that was lost is lost again with its first launch after it was closed and opened. After cuopt pull request
 * 1095: an error that was not cleared met whatever came next, and what had been remembered meanwhile was wrong from
 * then on.
 */
#include "mutant_fault.h"

void kw_mutant_change(kw_mutant *mutant) {
  kw_mutant_fault_group(mutant, (kw_mutant_faults){.opens_lost = true});
}
