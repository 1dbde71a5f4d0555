/* SPDX-License-Identifier: Apache-2.0
 *
 * Allocating waits while work of a stream hangs. After hrx-system pull request 366: with a fault under way pending
 * calls block for ever.
 */
#include "mutant_fault.h"

void kw_mutant_change(kw_mutant *mutant) {
  kw_mutant_fault_group(mutant, (kw_mutant_faults){.hold_blocks = true});
}
