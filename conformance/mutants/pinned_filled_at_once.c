/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory of the host's, page-locked, is filled by the calling thread, at once.
 */
#include "mutant.h"

#include <string.h>

enum { MOST = 256 };

static kw_mem pinned[MOST];

static kw_status alloc(void *device, const kw_alloc_info *info, kw_mem *out_mem) {
  kw_status status = kw_mutant_real.memory.alloc(device, info, out_mem);
  for (int i = 0; i < MOST && status == KW_OK && info->kind == KW_MEM_HOST_PINNED; i++) {
    if (pinned[i]) continue;
    pinned[i] = *out_mem;
    break;
  }
  return status;
}

static kw_status dealloc(void *device, kw_mem mem) {
  for (int i = 0; i < MOST; i++) pinned[i] = pinned[i] == mem ? NULL : pinned[i];
  return kw_mutant_real.memory.dealloc(device, mem);
}

static kw_status fill(void *device, void *stream, kw_mem mem, uint64_t offset, uint64_t size, const void *pattern,
                      uint32_t pattern_size) {
  for (int i = 0; i < MOST; i++) {
    if (pinned[i] != mem) continue;
    unsigned char *at = kw_mutant_memory_at(mem, offset);
    for (uint64_t b = 0; b < size; b += pattern_size) memcpy(at + b, pattern, pattern_size);
    return KW_OK;
  }
  return kw_mutant_real.memory.fill(device, stream, mem, offset, size, pattern, pattern_size);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->memory.alloc = alloc;
  mutant->memory.dealloc = dealloc;
  mutant->memory.fill = fill;
}
