/* SPDX-License-Identifier: Apache-2.0
 *
 * A refused allocation gives a handle along with the error. After cholla issue 296: whoever does not look at the
 * status takes what cudaMalloc leaves in its result for memory, which NVIDIA and AMD answer in different ways.
 */
#include "mutant_fault.h"

void kw_mutant_change(kw_mutant *mutant) {
  kw_mutant_fault_group(mutant, (kw_mutant_faults){.alloc_gives = true});
}
