/* SPDX-License-Identifier: Apache-2.0
 *
 * A late error is told of the stream that was created first, whichever it happened on. After pocl issue 201 and
 * drivers like it that know of errors, but not in which of their queues; the stream that failed says nothing, another
 * that is well fails.
 */
#include "mutant_fault.h"

void kw_mutant_change(kw_mutant *mutant) {
  kw_mutant_fault_group(mutant, (kw_mutant_faults){.blames_first = true});
}
