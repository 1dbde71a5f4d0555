/* SPDX-License-Identifier: Apache-2.0
 *
 * The streams of a device that is lost are not destroyed. After OpenCL-Docs issue 1564: when a command is terminated
 * its queue, and all others of the context, are in a state that is up to the implementation.
 */
#include "mutant_fault.h"

void kw_mutant_change(kw_mutant *mutant) {
  kw_mutant_fault_group(mutant, (kw_mutant_faults){.streams_stay = true});
}
