/* SPDX-License-Identifier: Apache-2.0
 *
 * The streams of a device that is lost are not destroyed. After Intel LLVM pull requests 5524 and 5528: a queue that
 * had a failed submission could not be synchronised, nor what belongs to it be destroyed.
 */
#include "mutant_fault.h"

void kw_mutant_change(kw_mutant *mutant) {
  kw_mutant_fault_group(mutant, (kw_mutant_faults){.streams_stay = true});
}
