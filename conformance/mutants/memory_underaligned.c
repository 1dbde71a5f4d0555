/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory begins 64 bytes after a multiple of the alignment that the device claims. After pocl issue 604 (buffers on
 * macOS are aligned to 16 bytes, vectors need more) and llama.cpp pull request 7090 (bits taken for bytes).
 */
#include "mutant.h"

enum { SHIFT = 64, CLAIM = 4096 };

static kw_status info(void *plugin, uint32_t index, kw_device_info *out_info) {
  kw_status status = kw_mutant_real.device.info(plugin, index, out_info);
  if (status == KW_OK) out_info->mem_alignment = CLAIM;
  return status;
}

static kw_status alloc(void *device, const kw_alloc_info *given, kw_mem *out_mem) {
  kw_alloc_info larger = *given;
  larger.size += SHIFT;
  larger.alignment = 2 * SHIFT;
  kw_status status = kw_mutant_real.memory.alloc(device, &larger, out_mem);
  if (status == KW_OK) *out_mem = (char *)*out_mem + SHIFT;
  return status;
}

static kw_status release(void *device, kw_mem mem) {
  return kw_mutant_real.memory.dealloc(device, (char *)mem - SHIFT);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->device.info = info;
  mutant->memory.alloc = alloc;
  mutant->memory.dealloc = release;
}
