/* SPDX-License-Identifier: Apache-2.0
 *
 * A map is a copy of whole lines of 64 bytes: its length is rounded up, and unmap puts all of them back, with what lay
 * behind the range when it was mapped.
 */
#include "mutant.h"

#include <stdlib.h>
#include <string.h>

static size_t in_lines(uint64_t size) {
  return (size_t)((size + 63) / 64 * 64);
}

static kw_status map(void *device, void *stream, const kw_map_info *info, void **out_pointer) {
  kw_status status = kw_mutant_real.stream.synchronize(device, stream, KW_WAIT_FOREVER);
  if (status != KW_OK) return status;
  if (posix_memalign(out_pointer, 64, in_lines(info->size)) != 0) return KW_ERR_OUT_OF_MEMORY;
  memcpy(*out_pointer, kw_mutant_memory_at(info->mem, info->offset), in_lines(info->size));
  return KW_OK;
}

static kw_status unmap(void *device, void *stream, const kw_map_info *info, void *pointer) {
  (void)device, (void)stream;
  if (info->flags & KW_MAP_WRITE) {
    memcpy(kw_mutant_memory_at(info->mem, info->offset), pointer, in_lines(info->size));
  }
  free(pointer);
  return KW_OK;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->memory.map = map;
  mutant->memory.unmap = unmap;
}
