/* SPDX-License-Identifier: Apache-2.0
 *
 * A device that is lost is told as one launch that failed, after which work seems to go on. After hrx-system pull
 * request 366: without the fault's delivery later operations appear to succeed.
 */
#include "mutant_fault.h"

void kw_mutant_change(kw_mutant *mutant) {
  kw_mutant_fault_group(mutant, (kw_mutant_faults){.lost_is_late = true});
}
