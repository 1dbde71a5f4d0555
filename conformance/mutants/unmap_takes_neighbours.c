/* SPDX-License-Identifier: Apache-2.0
 *
 * A map is a copy of whole pieces of 64 bytes, and unmap writes all of them back.
 */
#include "mutant.h"

#include <stdlib.h>
#include <string.h>

static uint64_t begin(const kw_map_info *info) {
  return info->offset / 64 * 64;
}

static uint64_t size(const kw_map_info *info) {
  return (info->offset + info->size + 63) / 64 * 64 - begin(info);
}

static kw_status map(void *device, void *stream, const kw_map_info *info, void **out_pointer) {
  (void)device, (void)stream;
  char *copy = aligned_alloc(64, size(info));
  if (!copy) return KW_ERR_OUT_OF_MEMORY;
  memcpy(copy, (char *)info->mem + begin(info), size(info));
  *out_pointer = copy + info->offset % 64;
  return KW_OK;
}

static kw_status unmap(void *device, void *stream, const kw_map_info *info, void *pointer) {
  (void)device, (void)stream;
  char *copy = (char *)pointer - info->offset % 64;
  if (info->flags & KW_MAP_WRITE) memcpy((char *)info->mem + begin(info), copy, size(info));
  free(copy);
  return KW_OK;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->memory.map = map;
  mutant->memory.unmap = unmap;
}
