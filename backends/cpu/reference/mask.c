/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels that select elements by what a tensor holds.
 */
#include "mask.h"

#include "number.h"
#include "selection.h"

#include <string.h>

/* Whether an element is not zero; NaN is not. */
static bool is_set(kw_dtype dtype, const void *at) {
  uint8_t set;
  kw_number_convert(dtype, at, KW_BOOL, &set);
  return set != 0;
}

kw_status kw_mask_nonzero(const kw_call *call) {
  const kw_tensor_ref *self = call->args[0].u.tensor, *out = call->outs[0], *count = call->outs[1];
  if (self->dtype > KW_F64 || out->dtype != KW_I64 || count->dtype != KW_I64) return KW_ERR_INVALID_ARGUMENT;
  int64_t *indices = (int64_t *)(void *)kw_walk_base(out), filled = 0;
  kw_walk walk;
  kw_walk_start(&walk, self->rank, self->shape);
  kw_walk_add(&walk, self);
  for (; walk.left > 0; kw_walk_next(&walk)) {
    if (!is_set(self->dtype, walk.at[0])) continue;
    for (uint32_t d = 0; d < self->rank; d++) indices[filled * out->strides[0] + d * out->strides[1]] = walk.index[d];
    filled++;
  }
  kw_number_store_int(KW_I64, kw_walk_base(count), filled);
  return KW_OK;
}

/* A walk over the shape that two tensors broadcast to, over both. */
static kw_walk walk_both(const kw_tensor_ref *a, const kw_tensor_ref *b) {
  const kw_tensor_ref *longer = a->rank > b->rank ? a : b, *shorter = longer == a ? b : a;
  int64_t shape[KW_MAX_RANK];
  memcpy(shape, longer->shape, sizeof shape);
  for (uint32_t d = 0; d < shorter->rank; d++) {
    int64_t *size = &shape[longer->rank - shorter->rank + d];
    if (*size == 1) *size = shorter->shape[d];
  }
  kw_walk walk;
  kw_walk_start(&walk, longer->rank, shape);
  kw_walk_add(&walk, a);
  kw_walk_add(&walk, b);
  return walk;
}

kw_status kw_mask_select(const kw_call *call) {
  const kw_tensor_ref *self = call->args[0].u.tensor, *mask = call->args[1].u.tensor;
  const kw_tensor_ref *out = call->outs[0], *count = call->outs[1];
  if (out->dtype != self->dtype || mask->dtype != KW_BOOL) return KW_ERR_INVALID_ARGUMENT;
  const int64_t step = out->strides[0] * (int64_t)kw_number_size(out->dtype);
  int64_t filled = 0;
  for (kw_walk walk = walk_both(self, mask); walk.left > 0; kw_walk_next(&walk)) {
    if (!is_set(KW_BOOL, walk.at[1])) continue;
    kw_number_convert(self->dtype, walk.at[0], out->dtype, kw_walk_base(out) + filled * step);
    filled++;
  }
  kw_number_store_int(KW_I64, kw_walk_base(count), filled);
  return KW_OK;
}

kw_status kw_mask_scatter(const kw_call *call) {
  const kw_tensor_ref *self = call->args[0].u.tensor, *mask = call->args[1].u.tensor;
  const kw_tensor_ref *source = call->args[2].u.tensor, *out = call->outs[0];
  if (out->dtype != self->dtype || source->dtype != self->dtype || mask->dtype != KW_BOOL) {
    return KW_ERR_INVALID_ARGUMENT;
  }
  kw_walk from, walk;
  kw_walk_start(&from, source->rank, source->shape);
  kw_walk_add(&from, source);
  kw_walk_start(&walk, out->rank, out->shape);
  kw_walk_add(&walk, out);
  kw_walk_add(&walk, self);
  kw_walk_add(&walk, mask);
  for (; walk.left > 0; kw_walk_next(&walk)) {
    bool placed = is_set(KW_BOOL, walk.at[2]);
    if (placed && from.left <= 0) kw_selection_blame(call, 2);
    placed = placed && from.left > 0;
    kw_number_convert(self->dtype, placed ? from.at[0] : walk.at[1], out->dtype, walk.at[0]);
    if (placed) kw_walk_next(&from);
  }
  return KW_OK;
}
