/* SPDX-License-Identifier: Apache-2.0
 *
 * An allocation that was refused is told once more, by the next launch. After llama.cpp pull request 7376 and CUB issue
 * 47: the error of a failed cudaMalloc stays behind, and whoever checks the next launch finds it.
 */
#include "mutant_fault.h"

void kw_mutant_change(kw_mutant *mutant) {
  kw_mutant_fault_group(mutant, (kw_mutant_faults){.alloc_lasts = true});
}
