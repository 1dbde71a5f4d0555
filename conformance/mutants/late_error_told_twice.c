/* SPDX-License-Identifier: Apache-2.0
 *
 * A late error is told once more with the next launch, which went well. After pocl pull request 2216: two failed
 * dependencies finished one command twice.
 */
#include "mutant_fault.h"

void kw_mutant_change(kw_mutant *mutant) {
  kw_mutant_fault_group(mutant, (kw_mutant_faults){.tells_twice = true});
}
