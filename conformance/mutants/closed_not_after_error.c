/* SPDX-License-Identifier: Apache-2.0
 *
 * A device on which a launch has failed late cannot be closed. After Intel LLVM pull request 5528: when a submission
 * had failed, to destroy the fence that belongs to it hung.
 */
#include "mutant_fault.h"

void kw_mutant_change(kw_mutant *mutant) {
  kw_mutant_fault_group(mutant, (kw_mutant_faults){.closes_not = true});
}
