/* SPDX-License-Identifier: Apache-2.0
 *
 * A late error is told of the stream that was created first, whichever it happened on. The one that failed says that
 * all is well. After OpenCL-Docs issue 1564: one command that is terminated makes the other queues of its context
 * unusable.
 */
#include "mutant_fault.h"

void kw_mutant_change(kw_mutant *mutant) {
  kw_mutant_fault_group(mutant, (kw_mutant_faults){.blames_first = true});
}
