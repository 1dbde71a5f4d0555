/* SPDX-License-Identifier: Apache-2.0
 *
 * Each look at what the device is leaves 64 bytes behind.
 */
#include "mutant.h"

static kw_status info(void *plugin, uint32_t index, kw_device_info *out_info) {
  kw_mutant_lose_memory(64);
  return kw_mutant_real.device.info(plugin, index, out_info);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->device.info = info;
}
