/* SPDX-License-Identifier: Apache-2.0
 *
 * A late error names the launch before the one that failed. After TensorFlow issue 124949: the fault is asynchronous,
 * and the node that is reported is usually not the culprit but its neighbour.
 */
#include "mutant_fault.h"

void kw_mutant_change(kw_mutant *mutant) {
  kw_mutant_fault_group(mutant, (kw_mutant_faults){.blames_launch = true});
}
