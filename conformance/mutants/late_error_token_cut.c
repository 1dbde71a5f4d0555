/* SPDX-License-Identifier: Apache-2.0
 *
 * A late error names its stream by the lowest 8 bits of the token: of more than 255 streams it blames one that does not
 * exist, or another.
 */
#include "mutant_fault.h"

void kw_mutant_change(kw_mutant *mutant) {
  kw_mutant_fault_group(mutant, (kw_mutant_faults){.cuts_token = true});
}
