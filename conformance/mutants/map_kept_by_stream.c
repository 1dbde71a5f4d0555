/* SPDX-License-Identifier: Apache-2.0
 *
 * A map for reading is a copy that is kept: the next map of the same place gives it again, unless its own stream has
 * copied something meanwhile. What other streams write is not seen.
 */
#include "mutant.h"

#include <stdlib.h>
#include <string.h>

static struct {
  kw_map_info info;
  const void *stream;
  void *bytes;
} kept;

static void forget(void) {
  free(kept.bytes);
  kept.bytes = NULL;
}

static kw_status map(void *device, void *stream, const kw_map_info *info, void **out_pointer) {
  if (info->flags != KW_MAP_READ) return kw_mutant_real.memory.map(device, stream, info, out_pointer);
  const size_t room = (info->size + 127) / 64 * 64;
  if (!kept.bytes || kept.stream != stream || memcmp(&kept.info, info, sizeof *info) != 0) {
    void *pointer = NULL;
    kw_status status = kw_mutant_real.memory.map(device, stream, info, &pointer);
    if (status != KW_OK) return status;
    forget();
    kept.info = *info;
    kept.stream = stream;
    kept.bytes = aligned_alloc(64, room);
    if (kept.bytes) memcpy(kept.bytes, pointer, info->size);
    status = kw_mutant_real.memory.unmap(device, stream, info, pointer);
    if (status != KW_OK) return status;
  }
  char *copy = aligned_alloc(64, room);
  if (!kept.bytes || !copy) abort();
  copy += info->offset % 64; /* as far from a multiple of 64 as the place is; there is room for it */
  memcpy(copy, kept.bytes, info->size);
  *out_pointer = copy;
  return KW_OK;
}

static kw_status unmap(void *device, void *stream, const kw_map_info *info, void *pointer) {
  if (info->flags != KW_MAP_READ) {
    forget();
    return kw_mutant_real.memory.unmap(device, stream, info, pointer);
  }
  free((char *)pointer - info->offset % 64);
  return KW_OK;
}

static kw_status copy(void *device, void *stream, const kw_copy_info *info) {
  if (kept.stream == stream) forget();
  return kw_mutant_real.memory.copy(device, stream, info);
}

static kw_status dealloc(void *device, kw_mem mem) {
  if (kept.info.mem == mem) forget();
  return kw_mutant_real.memory.dealloc(device, mem);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->memory.map = map;
  mutant->memory.unmap = unmap;
  mutant->memory.copy = copy;
  mutant->memory.dealloc = dealloc;
}
