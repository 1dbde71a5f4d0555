/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/guarded_tensor.h"

#include <stdlib.h>
#include <string.h>

#define TAIL_GUARD 64 /* elements behind the storage */

kw_status kw_image_create(kw_device *device, const kw_case_tensor *layout, int64_t lead, unsigned char poison,
                          kw_image *out_image) {
  memset(out_image, 0, sizeof *out_image);
  kw_image image = {.lead = lead, .item = kw_element_size(layout->dtype), .layout = *layout};
  image.count = lead + (int64_t)layout->extent + TAIL_GUARD;
  image.bytes = malloc((size_t)image.count * image.item);
  if (!image.bytes) return KW_ERR_OUT_OF_MEMORY;
  memset(image.bytes, poison, (size_t)image.count * image.item);
  kw_status status = kw_tensor_create(device, layout->dtype, 1, &image.count, &image.base);
  if (status == KW_OK) *out_image = image;
  if (status != KW_OK) free(image.bytes);
  return status;
}

void *kw_image_storage(kw_image *image) {
  return image->bytes + (size_t)image->lead * image->item;
}

kw_status kw_image_upload(kw_image *image) {
  return kw_tensor_write(image->base, image->bytes);
}

kw_status kw_image_view(const kw_image *image, const kw_case_tensor *layout, kw_tensor **out_view) {
  return kw_tensor_as_strided(image->base, layout->rank, layout->shape, layout->strides, image->lead + layout->offset,
                              out_view);
}

kw_status kw_image_check(const kw_image *image, bool inside, void *dense, kw_change *out_change) {
  const kw_case_tensor *t = &image->layout;
  *out_change = KW_CHANGE_NONE;
  size_t item = image->item, size = (size_t)image->count * item;
  unsigned char *now = malloc(size);
  if (!now) return KW_ERR_OUT_OF_MEMORY;
  kw_status status = kw_tensor_read(image->base, now);
  if (status != KW_OK) {
    free(now);
    return status;
  }
  kw_case_walk walk = kw_case_walk_start(t);
  for (int64_t i = 0; dense && i < t->numel; i++, kw_case_walk_next(&walk)) {
    memcpy((char *)dense + (size_t)i * item, now + (size_t)(image->lead + walk.at) * item, item);
  }
  size_t before = (size_t)image->lead * item, behind = before + t->extent * item;
  if (memcmp(now, image->bytes, before) != 0) {
    *out_change = KW_CHANGE_BEFORE;
  } else if (memcmp(now + behind, image->bytes + behind, size - behind) != 0) {
    *out_change = KW_CHANGE_AFTER;
  } else if (inside && memcmp(now, image->bytes, size) != 0) {
    *out_change = KW_CHANGE_INSIDE;
  } else if (!inside &&
             (uint64_t)t->numel < t->extent) { /* put the elements back: what still differs is between them */
    walk = kw_case_walk_start(t);
    for (int64_t i = 0; i < t->numel; i++, kw_case_walk_next(&walk)) {
      size_t at = (size_t)(image->lead + walk.at) * item;
      memcpy(now + at, image->bytes + at, item);
    }
    if (memcmp(now, image->bytes, size) != 0) *out_change = KW_CHANGE_BETWEEN;
  }
  free(now);
  return KW_OK;
}

void kw_image_destroy(kw_image *image) {
  kw_tensor_release(image->base);
  free(image->bytes);
  memset(image, 0, sizeof *image);
}
