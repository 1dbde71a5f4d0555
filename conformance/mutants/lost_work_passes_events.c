/* SPDX-License-Identifier: Apache-2.0
 *
 * That a device was lost is told by waits for its streams alone: events behind work that never ran count as passed.
 */
#include "mutant_fault.h"

void kw_mutant_change(kw_mutant *mutant) {
  kw_mutant_fault_group(mutant, (kw_mutant_faults){.tells_lost_at_wait = true});
}
