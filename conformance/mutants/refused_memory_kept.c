/* SPDX-License-Identifier: Apache-2.0
 *
 * An allocation that is refused has taken its memory, and nobody can free it. After CUDA.jl issue 2898: once memory
 * had run out freeing did not bring it back, and the device stayed in that state.
 */
#include "mutant_fault.h"

void kw_mutant_change(kw_mutant *mutant) {
  kw_mutant_fault_group(mutant, (kw_mutant_faults){.alloc_keeps = true});
}
