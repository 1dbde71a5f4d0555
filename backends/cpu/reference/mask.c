/* SPDX-License-Identifier: Apache-2.0 */
#include "mask.h"

#include "number.h"
#include "walk.h"

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
