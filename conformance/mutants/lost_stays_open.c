/* SPDX-License-Identifier: Apache-2.0
 *
 * A device that is lost is not closed, and so not opened again.
 */
#include "mutant_fault.h"

void kw_mutant_change(kw_mutant *mutant) {
  kw_mutant_fault_group(mutant, (kw_mutant_faults){.lost_stays = true});
}
