/* SPDX-License-Identifier: Apache-2.0
 *
 * Result shapes of the ops that select by masks, and of topk.
 */
#include "base/dtype.h"
#include "op/infer/shape_rules.h"

#include <inttypes.h>
#include <string.h>

kw_status kw_infer_nonzero(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand) {
  (void)op;
  (void)out_expand;
  const kw_tensor_ref *self = args[0].u.tensor;
  *out = (kw_infer_dims){2, {self->numel, self->rank}};
  return KW_OK;
}

/* "self" and "mask", arguments 0 and 1, broadcast together. */
static kw_status join_mask(const kw_op *op, const kw_value *args, kw_infer_dims *out) {
  const kw_tensor_ref *self = args[0].u.tensor, *mask = args[1].u.tensor;
  if (mask->dtype != KW_BOOL) {
    return kw_op_fail(op, 1, "expected bool, got %s; compare it with 0 first", kw_dtype_name(mask->dtype));
  }
  out->rank = self->rank;
  memcpy(out->sizes, self->shape, self->rank * sizeof(int64_t));
  return kw_infer_broadcast(op, 1, mask, NULL, out);
}

kw_status kw_infer_masked_select(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand) {
  (void)out_expand;
  kw_infer_dims joint;
  kw_status status = join_mask(op, args, &joint);
  if (status != KW_OK) return status;
  *out = (kw_infer_dims){1, {1}};
  for (uint32_t d = 0; d < joint.rank; ++d) {
    if (__builtin_mul_overflow(out->sizes[0], joint.sizes[d], &out->sizes[0])) {
      return kw_op_fail(op, 1, "it and 'self' broadcast to more than 2^63 - 1 elements");
    }
  }
  return KW_OK;
}

kw_status kw_infer_masked_scatter(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand) {
  (void)out_expand;
  return join_mask(op, args, out);
}

kw_status kw_infer_topk(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand) {
  (void)out_expand;
  const kw_tensor_ref *self = args[0].u.tensor;
  const int64_t k = args[1].u.i;
  uint32_t mask = 0;
  kw_status status = kw_infer_mark_dim(op, 2, self, args[2].u.i, &mask);
  if (status != KW_OK) return status;
  const uint32_t dim = (uint32_t)__builtin_ctz(mask);
  const int64_t size = self->rank > 0 ? self->shape[dim] : 1;
  if (k < 0 || k > size) {
    return kw_op_fail(op, 1, "%" PRId64 " is outside [0, %" PRId64 "], the size of dimension %u", k, size, dim);
  }
  if (self->rank == 0 && k == 0) return kw_op_fail(op, 1, "a tensor of rank 0 has one element, and a result too");
  out->rank = self->rank;
  memcpy(out->sizes, self->shape, self->rank * sizeof(int64_t));
  if (self->rank > 0) out->sizes[dim] = k;
  out[1] = out[0];
  return KW_OK;
}
