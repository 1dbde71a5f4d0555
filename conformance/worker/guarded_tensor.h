/* SPDX-License-Identifier: Apache-2.0
 *
 * A tensor of a case on the device, inside a larger allocation: guard zone, storage, guard zone. The host keeps a byte
 * image of all of it, so that any byte that changed without permission is found.
 */
#ifndef KEYWAY_CONFORMANCE_IMAGE_H
#define KEYWAY_CONFORMANCE_IMAGE_H

#include "case/case.h"

#include <keyway/keyway.h>

typedef struct kw_image {
  kw_tensor *base;      /* rank 1, the whole allocation */
  unsigned char *bytes; /* what base holds, as far as the suite wrote it */
  int64_t lead;         /* elements of the first guard zone */
  int64_t count;        /* elements of base */
  size_t item;
  kw_case_tensor layout; /* the tensor that `base` was made for */
} kw_image;

/* Room for a tensor and its guards, everything set to `poison` in the host image only. */
kw_status kw_image_create(kw_device *device, const kw_case_tensor *layout, int64_t lead, unsigned char poison,
                          kw_image *out_image);
/* Where the storage lies in the host image, for kw_case_fill. */
void *kw_image_storage(kw_image *image);
/* Copies the host image to the device. */
kw_status kw_image_upload(kw_image *image);
/* A view of the image as a tensor of this layout (the image's own, or another one onto the same storage). */
kw_status kw_image_view(const kw_image *image, const kw_case_tensor *layout, kw_tensor **out_view);

typedef enum kw_change {
  KW_CHANGE_NONE,
  KW_CHANGE_BEFORE,
  KW_CHANGE_AFTER,
  KW_CHANGE_BETWEEN,
  KW_CHANGE_INSIDE
} kw_change;
/* Reads the device's bytes and tells where they differ from the image: in the first guard zone, behind the storage,
 * between elements, or (when `inside` is set) in elements. With `dense`: gathers the elements, row-major. */
kw_status kw_image_check(const kw_image *image, bool inside, void *dense, kw_change *out_change);

void kw_image_destroy(kw_image *image);

#endif /* KEYWAY_CONFORMANCE_IMAGE_H */
