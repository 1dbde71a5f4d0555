/* SPDX-License-Identifier: Apache-2.0
 *
 * A tensor between guard zones.
 */
#include "worker/guarded_tensor.h"

#include <stdlib.h>
#include <string.h>

#define TAIL_GUARD 64 /* elements behind the storage */

kw_status kw_guarded_tensor_create(kw_device *device, const kw_case_tensor *layout, int64_t lead, unsigned char poison,
                                   kw_guarded_tensor *out_guarded) {
  memset(out_guarded, 0, sizeof *out_guarded);
  kw_guarded_tensor guarded = {.lead = lead, .item = kw_element_size(layout->dtype), .layout = *layout};
  guarded.count = lead + (int64_t)layout->extent + TAIL_GUARD;
  guarded.bytes = malloc((size_t)guarded.count * guarded.item);
  if (!guarded.bytes) return KW_ERR_OUT_OF_MEMORY;
  memset(guarded.bytes, poison, (size_t)guarded.count * guarded.item);
  kw_status status = kw_tensor_create(device, layout->dtype, 1, &guarded.count, &guarded.base);
  if (status == KW_OK) *out_guarded = guarded;
  if (status != KW_OK) free(guarded.bytes);
  return status;
}

void *kw_guarded_tensor_storage(kw_guarded_tensor *guarded) {
  return guarded->bytes + (size_t)guarded->lead * guarded->item;
}

kw_status kw_guarded_tensor_upload(kw_guarded_tensor *guarded) {
  return kw_tensor_write(guarded->base, guarded->bytes);
}

kw_status kw_guarded_tensor_view(const kw_guarded_tensor *guarded, const kw_case_tensor *layout, kw_tensor **out_view) {
  return kw_tensor_as_strided(guarded->base, layout->rank, layout->shape, layout->strides,
                              guarded->lead + layout->offset, out_view);
}

kw_status kw_guarded_tensor_check(const kw_guarded_tensor *guarded, bool inside, void *dense, kw_change *out_change) {
  const kw_case_tensor *t = &guarded->layout;
  *out_change = KW_CHANGE_NONE;
  size_t item = guarded->item, size = (size_t)guarded->count * item;
  unsigned char *now = malloc(size);
  if (!now) return KW_ERR_OUT_OF_MEMORY;
  kw_status status = kw_tensor_read(guarded->base, now);
  if (status != KW_OK) {
    free(now);
    return status;
  }
  kw_case_walk walk = kw_case_walk_start(t);
  for (int64_t i = 0; dense && i < t->numel; i++, kw_case_walk_next(&walk)) {
    memcpy((char *)dense + (size_t)i * item, now + (size_t)(guarded->lead + walk.at) * item, item);
  }
  size_t before = (size_t)guarded->lead * item, behind = before + t->extent * item;
  if (memcmp(now, guarded->bytes, before) != 0) {
    *out_change = KW_CHANGE_BEFORE;
  } else if (memcmp(now + behind, guarded->bytes + behind, size - behind) != 0) {
    *out_change = KW_CHANGE_AFTER;
  } else if (inside && memcmp(now, guarded->bytes, size) != 0) {
    *out_change = KW_CHANGE_INSIDE;
  } else if (!inside &&
             (uint64_t)t->numel < t->extent) { /* put the elements back: what still differs is between them */
    walk = kw_case_walk_start(t);
    for (int64_t i = 0; i < t->numel; i++, kw_case_walk_next(&walk)) {
      size_t at = (size_t)(guarded->lead + walk.at) * item;
      memcpy(now + at, guarded->bytes + at, item);
    }
    if (memcmp(now, guarded->bytes, size) != 0) *out_change = KW_CHANGE_BETWEEN;
  }
  free(now);
  return KW_OK;
}

void kw_guarded_tensor_destroy(kw_guarded_tensor *guarded) {
  kw_tensor_release(guarded->base);
  free(guarded->bytes);
  memset(guarded, 0, sizeof *guarded);
}
