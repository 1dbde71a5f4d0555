/* SPDX-License-Identifier: Apache-2.0
 *
 * An allocation that fails has begun to clear memory that somebody else has. (The device does not tell the size of its
 * memory, so that the request gets as far as the plugin.)
 */
#include "mutant.h"

#include <string.h>

static kw_mem newest;

static kw_status alloc(void *device, const kw_alloc_info *info, kw_mem *out_mem) {
  kw_status status = kw_mutant_real.memory.alloc(device, info, out_mem);
  if (status == KW_OK) newest = *out_mem;
  if (status == KW_ERR_OUT_OF_MEMORY && newest) memset(newest, 0, 64);
  return status;
}

static kw_status dealloc(void *device, kw_mem mem) {
  if (mem == newest) newest = NULL;
  return kw_mutant_real.memory.dealloc(device, mem);
}

static kw_status info(void *plugin, uint32_t index, kw_device_info *out_info) {
  kw_status status = kw_mutant_real.device.info(plugin, index, out_info);
  out_info->total_memory = out_info->max_alloc = 0;
  return status;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->memory.alloc = alloc;
  mutant->memory.dealloc = dealloc;
  mutant->device.info = info;
}
