/* SPDX-License-Identifier: Apache-2.0
 *
 * A map is a copy, and nobody writes it back.
 */
#include "mutant.h"

#include <stdlib.h>
#include <string.h>

static kw_status map(void *device, void *stream, const kw_map_info *info, void **out_pointer) {
  (void)device, (void)stream;
  *out_pointer = aligned_alloc(64, (info->size + 63) / 64 * 64);
  if (!*out_pointer) return KW_ERR_OUT_OF_MEMORY;
  memcpy(*out_pointer, (char *)info->mem + info->offset, info->size);
  return KW_OK;
}

static kw_status unmap(void *device, void *stream, const kw_map_info *info, void *pointer) {
  (void)device, (void)stream, (void)info;
  free(pointer);
  return KW_OK;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->memory.map = map;
  mutant->memory.unmap = unmap;
}
