/* SPDX-License-Identifier: Apache-2.0
 *
 * No defect: two devices.
 */
#include "mutant_two.h"

void kw_mutant_change(kw_mutant *mutant) {
  kw_mutant_two_devices(mutant);
}
