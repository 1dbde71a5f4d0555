/* SPDX-License-Identifier: Apache-2.0
 *
 * A map for reading and writing is a copy, and its end stores the pages that have changed: those whose sum of bytes
 * has.
 */
#include "mutant.h"

#include <stdlib.h>
#include <string.h>

enum { PAGE = 4096, SMALL = 16384 }; /* bytes; small ones are stored whole */

static bool is_window(const kw_map_info *info) {
  return info->flags == (KW_MAP_READ | KW_MAP_WRITE) && info->size > SMALL && info->offset % 64 == 0;
}

static uint64_t sum(const unsigned char *bytes, uint64_t size) {
  uint64_t total = 0;
  for (uint64_t i = 0; i < size; i++) total += bytes[i];
  return total;
}

static unsigned char *place(const kw_map_info *info) {
  return kw_mutant_memory_at(info->mem, info->offset);
}

static kw_status map(void *device, void *stream, const kw_map_info *info, void **out_pointer) {
  if (!is_window(info)) return kw_mutant_real.memory.map(device, stream, info, out_pointer);
  *out_pointer = aligned_alloc(64, (info->size + 63) / 64 * 64);
  if (!*out_pointer) return kw_mutant_host->set_error(kw_mutant_host->ctx, KW_ERR_OUT_OF_MEMORY, "no host memory");
  memcpy(*out_pointer, place(info), info->size);
  return KW_OK;
}

static kw_status unmap(void *device, void *stream, const kw_map_info *info, void *pointer) {
  if (!is_window(info)) return kw_mutant_real.memory.unmap(device, stream, info, pointer);
  unsigned char *to = place(info), *from = pointer;
  for (uint64_t at = 0; at < info->size; at += PAGE) {
    const uint64_t size = info->size - at < PAGE ? info->size - at : PAGE;
    if (sum(from + at, size) != sum(to + at, size)) memcpy(to + at, from + at, size);
  }
  free(pointer);
  return KW_OK;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->memory.map = map;
  mutant->memory.unmap = unmap;
}
