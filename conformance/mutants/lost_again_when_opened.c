/* SPDX-License-Identifier: Apache-2.0
 *
 * A device that was lost is lost again with its first launch after it was closed and opened. After mmc issue 127:
 * closing an OpenCL context did not end what the driver held of it, and nothing short of the process's end did.
 */
#include "mutant_fault.h"

void kw_mutant_change(kw_mutant *mutant) {
  kw_mutant_fault_group(mutant, (kw_mutant_faults){.opens_lost = true});
}
