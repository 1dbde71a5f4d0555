/* SPDX-License-Identifier: Apache-2.0
 *
 * A late error names the launch that was enqueued last by then, not the one that failed.
 */
#include "mutant_fault.h"

void kw_mutant_change(kw_mutant *mutant) {
  kw_mutant_fault_group(mutant, (kw_mutant_faults){.blames_newest = true});
}
