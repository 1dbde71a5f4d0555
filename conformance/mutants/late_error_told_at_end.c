/* SPDX-License-Identifier: Apache-2.0
 *
 * A late error is kept until its stream is destroyed, and no wait tells it. After TornadoVM issue 1006: the failure
 * of a graph was swallowed where it happened, and each frame went on with wrong numbers.
 */
#include "mutant_fault.h"

void kw_mutant_change(kw_mutant *mutant) {
  kw_mutant_fault_group(mutant, (kw_mutant_faults){.tells_at_end = true});
}
