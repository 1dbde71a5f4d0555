/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels that place the elements of a tensor elsewhere: the same for every compute type, and bits stay what they are.
 */
#ifndef KEYWAY_REFERENCE_PLACE_H
#define KEYWAY_REFERENCE_PLACE_H

#include "reference.h"

kw_status kw_place_repeat(const kw_call *call);
kw_status kw_place_flip(const kw_call *call);
kw_status kw_place_roll(const kw_call *call);
kw_status kw_place_triu(const kw_call *call);
kw_status kw_place_tril(const kw_call *call);
kw_status kw_place_select_scatter(const kw_call *call);
kw_status kw_place_slice_scatter(const kw_call *call);
kw_status kw_place_pad_constant(const kw_call *call);
kw_status kw_place_pad_reflect(const kw_call *call);
kw_status kw_place_pad_replicate(const kw_call *call);

/* Where, in dimension d of argument 0, which has `size` elements, the element lies that flip and roll bring to place i.
 */
int64_t kw_place_flipped(const kw_call *call, uint32_t d, int64_t size, int64_t i);
int64_t kw_place_rolled(const kw_call *call, uint32_t d, int64_t size, int64_t i);
/* i - shift in a circle of `size`; a shift may be any number. */
int64_t kw_place_turned(int64_t i, int64_t shift, int64_t size);
/* Place i of a padded dimension, counted without the pads. */
int64_t kw_place_unpadded(const kw_value *pads, uint32_t rank, uint32_t d, int64_t i);

/* What select_scatter and slice_scatter replace: `count` places along `dim`, start, start + step, ... */
typedef struct kw_place_part {
  int64_t dim, start, step, count;
} kw_place_part;
kw_place_part kw_place_selected(const kw_call *call);
kw_place_part kw_place_sliced(const kw_call *call);
kw_tensor_ref kw_place_part_of(const kw_tensor_ref *tensor, kw_place_part part);
/* Argument 1, in the shape of that part. */
kw_tensor_ref kw_place_replacement(const kw_call *call, kw_place_part part);

/* Where, in dimension d of `rank`, which has `size` elements and is padded by `pads`, the element lies that is seen at
 * place i: mirrored at the first and at the last element, which themselves do not appear twice, or the nearest of them.
 */
typedef int64_t (*kw_place_fn)(const kw_value *pads, uint32_t rank, uint32_t d, int64_t size, int64_t i);
int64_t kw_place_reflected(const kw_value *pads, uint32_t rank, uint32_t d, int64_t size, int64_t i);
int64_t kw_place_replicated(const kw_value *pads, uint32_t rank, uint32_t d, int64_t size, int64_t i);

#endif /* KEYWAY_REFERENCE_PLACE_H */
