/* SPDX-License-Identifier: Apache-2.0
 *
 * The size of the memory grows each time that the device is asked for it.
 */
#include "mutant.h"

static kw_status info(void *plugin, uint32_t index, kw_device_info *out_info) {
  static uint64_t asked;
  kw_status status = kw_mutant_real.device.info(plugin, index, out_info);
  out_info->total_memory += ++asked;
  return status;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->device.info = info;
}
