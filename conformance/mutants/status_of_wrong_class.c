/* SPDX-License-Identifier: Apache-2.0
 *
 * Where there is no memory left, alloc answers with a number of its own in the class of what may work later, so that
 * nobody frees anything. (The device does not tell the size of its memory, so that the request gets as far as the
 * plugin.)
 */
#include "mutant.h"

static kw_status alloc(void *device, const kw_alloc_info *info, kw_mem *out_mem) {
  kw_status status = kw_mutant_real.memory.alloc(device, info, out_mem);
  return status == KW_OK ? KW_OK : KW_STATUS_OF_PLUGIN(KW_CLASS_RETRY, 4711);
}

static kw_status info(void *plugin, uint32_t index, kw_device_info *out_info) {
  kw_status status = kw_mutant_real.device.info(plugin, index, out_info);
  out_info->total_memory = out_info->max_alloc = 0;
  return status;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->memory.alloc = alloc;
  mutant->device.info = info;
}
