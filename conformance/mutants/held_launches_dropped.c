/* SPDX-License-Identifier: Apache-2.0
 *
 * Launches that were enqueued while work hung do not run when it goes on. After rocm-systems pull request 7874: a
 * lost wake-up left the overflow of a queue where it was.
 */
#include "mutant_fault.h"

void kw_mutant_change(kw_mutant *mutant) {
  kw_mutant_fault_group(mutant, (kw_mutant_faults){.hold_drops = true});
}
