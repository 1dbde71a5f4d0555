/* SPDX-License-Identifier: Apache-2.0
 *
 * An order for a fault that no version knows is taken: nothing comes about, and what was ordered before does not
 * either.
 */
#include "mutant_fault.h"

void kw_mutant_change(kw_mutant *mutant) {
  kw_mutant_fault_group(mutant, (kw_mutant_faults){.takes_unknown = true});
}
