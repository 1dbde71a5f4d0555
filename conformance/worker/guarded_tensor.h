/* SPDX-License-Identifier: Apache-2.0
 *
 * A tensor of a case on the device, inside a larger allocation: guard zone, storage, guard zone. The host keeps a byte
 * copy of all of it, so that any byte that changed without permission is found.
 */
#ifndef KEYWAY_CONFORMANCE_GUARDED_TENSOR_H
#define KEYWAY_CONFORMANCE_GUARDED_TENSOR_H

#include "case/case.h"

#include <keyway/keyway.h>

typedef struct kw_guarded_tensor {
  kw_tensor *base;      /* rank 1, the whole allocation */
  unsigned char *bytes; /* what base holds, as far as the suite wrote it */
  int64_t lead;         /* elements of the first guard zone */
  int64_t count;        /* elements of base */
  size_t item;
  kw_case_tensor layout; /* the tensor that `base` was made for */
} kw_guarded_tensor;

/* Room for a tensor and its guards, everything set to `poison` in the host copy only. */
kw_status kw_guarded_tensor_create(kw_device *device, const kw_case_tensor *layout, int64_t lead, unsigned char poison,
                                   kw_guarded_tensor *out_guarded);
/* Where the storage lies in the host copy, for kw_case_fill. */
void *kw_guarded_tensor_storage(kw_guarded_tensor *guarded);
/* Copies the host copy to the device. */
kw_status kw_guarded_tensor_upload(kw_guarded_tensor *guarded);
/* A view as a tensor of this layout (its own, or another one onto the same storage). */
kw_status kw_guarded_tensor_view(const kw_guarded_tensor *guarded, const kw_case_tensor *layout, kw_tensor **out_view);

typedef enum kw_change {
  KW_CHANGE_NONE,
  KW_CHANGE_BEFORE,
  KW_CHANGE_AFTER,
  KW_CHANGE_BETWEEN,
  KW_CHANGE_INSIDE
} kw_change;
/* Reads the device's bytes and tells where they differ from the host copy: in the first guard zone, behind the storage,
 * between elements, or (when `inside` is set) in elements. With `dense`: gathers the elements, row-major. */
kw_status kw_guarded_tensor_check(const kw_guarded_tensor *guarded, bool inside, void *dense, kw_change *out_change);

void kw_guarded_tensor_destroy(kw_guarded_tensor *guarded);

#endif /* KEYWAY_CONFORMANCE_GUARDED_TENSOR_H */
