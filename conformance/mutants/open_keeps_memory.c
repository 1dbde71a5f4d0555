/* SPDX-License-Identifier: Apache-2.0
 *
 * Each opening of the device keeps a quarter of a megabyte after it was closed. After mmc issue 127 and pull request
 * 128: a context of NVIDIA's OpenCL is not freed while an event that nobody released refers to it.
 */
#include "mutant.h"

static kw_status open_device(void *plugin, uint32_t index, const kw_open_info *info, void **out_device) {
  kw_mutant_lose_memory(1 << 18);
  return kw_mutant_real.device.open(plugin, index, info, out_device);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->device.open = open_device;
}
