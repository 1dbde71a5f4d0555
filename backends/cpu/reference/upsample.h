/* SPDX-License-Identifier: Apache-2.0
 *
 * Where upsampling takes its elements from, along each dimension: the same for every compute type.
 */
#ifndef KEYWAY_REFERENCE_UPSAMPLE_H
#define KEYWAY_REFERENCE_UPSAMPLE_H

#include "reference.h"

typedef enum kw_upsample_kind {
  KW_UPSAMPLE_NEAREST,
  KW_UPSAMPLE_NEAREST_EXACT,
  KW_UPSAMPLE_LINEAR,
  KW_UPSAMPLE_CUBIC
} kw_upsample_kind;

/* Along one dimension: from `in` elements `out` are made. */
typedef struct kw_upsample_axis {
  kw_upsample_kind kind;
  int64_t in, out;
  double scale; /* out / in as the caller says it; 0 where he does not */
  bool align_corners;
} kw_upsample_axis;

/* The axes of the dimensions of `small` behind the first two; `large` is what upsampling makes of it. `rest`:
 * align_corners where the kind has it, then a scale or none for each of those dimensions. */
void kw_upsample_axes(kw_upsample_axis *axes, kw_upsample_kind kind, const kw_tensor_ref *large,
                      const kw_tensor_ref *small, const kw_value *rest);

/* The element that place i of the result is taken from, of the kinds `nearest`: floor(i * in / out), or with half a
 * step more floor((i + 1/2) * in / out): in integers, or in f64 by the scale. */
int64_t kw_upsample_nearest(const kw_upsample_axis *axis, int64_t i);

#endif /* KEYWAY_REFERENCE_UPSAMPLE_H */
