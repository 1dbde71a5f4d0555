/* SPDX-License-Identifier: Apache-2.0
 *
 * What is written in a map of more than 64 KiB goes back in pieces of 64 bytes; the last piece is dropped.
 */
#include "mutant.h"

#include <stdlib.h>
#include <string.h>

enum { LARGE = 1 << 16, PIECE = 64 };

static kw_status map(void *device, void *stream, const kw_map_info *info, void **out_pointer) {
  if (info->size <= LARGE) return kw_mutant_real.memory.map(device, stream, info, out_pointer);
  kw_status status = kw_mutant_real.stream.synchronize(device, stream, KW_WAIT_FOREVER);
  if (status != KW_OK) return status;
  if (posix_memalign(out_pointer, 4096, info->size) != 0) return KW_ERR_OUT_OF_MEMORY;
  memcpy(*out_pointer, (const char *)info->mem + info->offset, info->size);
  return KW_OK;
}

static kw_status unmap(void *device, void *stream, const kw_map_info *info, void *pointer) {
  if (info->size <= LARGE) return kw_mutant_real.memory.unmap(device, stream, info, pointer);
  if (info->flags & KW_MAP_WRITE) memcpy((char *)info->mem + info->offset, pointer, info->size / PIECE * PIECE);
  free(pointer);
  return KW_OK;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->memory.map = map;
  mutant->memory.unmap = unmap;
}
