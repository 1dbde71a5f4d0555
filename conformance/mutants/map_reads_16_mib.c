/* SPDX-License-Identifier: Apache-2.0
 *
 * A map for reading is a copy of at most 16 MiB: what lies behind them holds nothing.
 */
#include "mutant.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 16 << 20 };

static bool is_copied(const kw_map_info *info) {
  return info->size > MOST && !(info->flags & KW_MAP_WRITE);
}

static kw_status map(void *device, void *stream, const kw_map_info *info, void **out_pointer) {
  if (!is_copied(info)) return kw_mutant_real.memory.map(device, stream, info, out_pointer);
  char *copy = aligned_alloc(64, (info->size + 63) / 64 * 64);
  if (!copy) return KW_ERR_OUT_OF_MEMORY;
  memset(copy, 0, info->size);
  memcpy(copy, (char *)info->mem + info->offset, MOST);
  *out_pointer = copy;
  return KW_OK;
}

static kw_status unmap(void *device, void *stream, const kw_map_info *info, void *pointer) {
  if (!is_copied(info)) return kw_mutant_real.memory.unmap(device, stream, info, pointer);
  free(pointer);
  return KW_OK;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->memory.map = map;
  mutant->memory.unmap = unmap;
}
