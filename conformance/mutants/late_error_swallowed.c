/* SPDX-License-Identifier: Apache-2.0
 *
 * An error that comes after a launch has returned is not told to anybody, and its result is what the memory held.
 * After lupine issue 354 (errors of launches over a network are dropped, and no later call tells them) and TornadoVM
 * issue 1006.
 */
#include "mutant_fault.h"

void kw_mutant_change(kw_mutant *mutant) {
  kw_mutant_fault_group(mutant, (kw_mutant_faults){.late_is_swallowed = true});
}
