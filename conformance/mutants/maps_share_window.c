/* SPDX-License-Identifier: Apache-2.0
 *
 * All maps go through one window: a second one takes the first one's place.
 */
#include "mutant.h"

#include <string.h>

static _Alignas(64) char window[1 << 20];

static kw_status map(void *device, void *stream, const kw_map_info *info, void **out_pointer) {
  if (info->size > sizeof window) return kw_mutant_real.memory.map(device, stream, info, out_pointer);
  *out_pointer = memcpy(window, (char *)info->mem + info->offset, info->size);
  return KW_OK;
}

static kw_status unmap(void *device, void *stream, const kw_map_info *info, void *pointer) {
  (void)device, (void)stream;
  if (pointer == window && (info->flags & KW_MAP_WRITE)) {
    memcpy((char *)info->mem + info->offset, window, info->size);
  }
  return KW_OK;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->memory.map = map;
  mutant->memory.unmap = unmap;
}
