/* SPDX-License-Identifier: Apache-2.0
 *
 * An allocation that is refused has taken its memory, and nobody can free it. After cuopt pull request 1095: a
 * request that failed had left its mark in what later ones go by.
 */
#include "mutant_fault.h"

void kw_mutant_change(kw_mutant *mutant) {
  kw_mutant_fault_group(mutant, (kw_mutant_faults){.alloc_keeps = true});
}
