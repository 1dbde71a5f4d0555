/* SPDX-License-Identifier: Apache-2.0
 *
 * An allocation that was to fail once fails from then on.
 */
#include "mutant_fault.h"

void kw_mutant_change(kw_mutant *mutant) {
  kw_mutant_fault_group(mutant, (kw_mutant_faults){.stays = true});
}
