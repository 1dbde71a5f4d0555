/* SPDX-License-Identifier: Apache-2.0
 *
 * A launch that failed is told as a device that is lost: all streams of the device are given up for it. After MLX
 * issue 3858, where one launch with a bad configuration leaves the whole context unusable.
 */
#include "mutant_fault.h"

void kw_mutant_change(kw_mutant *mutant) {
  kw_mutant_fault_group(mutant, (kw_mutant_faults){.late_is_lost = true});
}
