/* SPDX-License-Identifier: Apache-2.0
 *
 * No defect: faults come about as they were ordered.
 */
#include "mutant_fault.h"

void kw_mutant_change(kw_mutant *mutant) {
  kw_mutant_fault_group(mutant, (kw_mutant_faults){0});
}
