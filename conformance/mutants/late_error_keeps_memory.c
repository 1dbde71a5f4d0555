/* SPDX-License-Identifier: Apache-2.0
 *
 * Each launch that fails late leaves 4 KiB behind.
 */
#include "mutant_fault.h"

void kw_mutant_change(kw_mutant *mutant) {
  kw_mutant_fault_group(mutant, (kw_mutant_faults){.late_keeps = true});
}
