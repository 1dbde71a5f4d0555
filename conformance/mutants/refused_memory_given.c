/* SPDX-License-Identifier: Apache-2.0
 *
 * A refused allocation gives a handle along with the error. After lupine issue 354's like: what a failed call leaves
 * in its result is taken for one by whoever looks at it alone.
 */
#include "mutant_fault.h"

void kw_mutant_change(kw_mutant *mutant) {
  kw_mutant_fault_group(mutant, (kw_mutant_faults){.alloc_gives = true});
}
