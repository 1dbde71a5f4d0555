/* SPDX-License-Identifier: Apache-2.0
 *
 * A map of memory begins 8 bytes after a multiple of 64. After pocl issue 1337: pointers of the host that are aligned
 * less than the device has it were taken as they were.
 */
#include "mutant.h"

#include <stdlib.h>
#include <string.h>

enum { SHIFT = 8 };

static kw_status map(void *device, void *stream, const kw_map_info *info, void **out_pointer) {
  (void)device, (void)stream;
  char *window = aligned_alloc(64, (info->size + SHIFT + 63) / 64 * 64);
  if (!window) return KW_ERR_OUT_OF_MEMORY;
  *out_pointer = memcpy(window + SHIFT, (char *)info->mem + info->offset, info->size);
  return KW_OK;
}

static kw_status unmap(void *device, void *stream, const kw_map_info *info, void *pointer) {
  (void)device, (void)stream;
  if (info->flags & KW_MAP_WRITE) memcpy((char *)info->mem + info->offset, pointer, info->size);
  free((char *)pointer - SHIFT);
  return KW_OK;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->memory.map = map;
  mutant->memory.unmap = unmap;
}
