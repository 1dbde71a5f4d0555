/* SPDX-License-Identifier: Apache-2.0
 *
 * Opening the device sets an environment variable, the same each time: who looks only after the first opening, or in a
 * process that inherited it, sees no change.
 */
#include "mutant.h"

#include <stdlib.h>

static kw_status open_device(void *plugin, uint32_t index, const kw_open_info *info, void **out_device) {
  setenv("MUTANT_VISIBLE_DEVICES", "0", 1);
  return kw_mutant_real.device.open(plugin, index, info, out_device);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->device.open = open_device;
}
