/* SPDX-License-Identifier: Apache-2.0
 *
 * Result shapes of the ops that select by masks, of topk, and shape and dtype of a search's.
 */
#include "base/dtype.h"
#include "op/infer/result_rules.h"
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

/* ---- searchsorted ------------------------------------------------------------------------------------------------ */

enum { SEQUENCE, SELF, OUT_INT32, RIGHT, SIDE, SORTER };

/* The values are compared with the elements as they are: nothing is promoted. */
kw_status kw_infer_key_sequence(const kw_op *op, const kw_value *args, kw_dtype *out_key) {
  const kw_dtype key = args[SEQUENCE].u.tensor->dtype, self = args[SELF].u.tensor->dtype;
  *out_key = key;
  if (self == key) return kw_infer_check_dtype(op, args, key, "");
  return kw_op_fail(op, SELF, "expected %s, the dtype of 'sorted_sequence', got %s; cast one of them first",
                    kw_dtype_name(key), kw_dtype_name(self));
}

kw_dtype kw_infer_dtype_place(const kw_op *op, const kw_value *args, kw_dtype key, uint32_t result) {
  (void)op;
  (void)key;
  (void)result;
  return args[OUT_INT32].u.b ? KW_I32 : KW_I64;
}

static kw_status check_side(const kw_op *op, const kw_value *args) {
  if (args[SIDE].tag != KW_TAG_STRING) return KW_OK;
  const char *side = args[SIDE].u.s;
  const bool left = strcmp(side, "left") == 0;
  if (!left && strcmp(side, "right") != 0) {
    return kw_op_fail(op, SIDE, "'%s' is not known; it is 'left' or 'right'", side);
  }
  if (left && args[RIGHT].u.b)
    return kw_op_fail(op, SIDE, "'left' contradicts 'right', which is true; give one of them");
  return KW_OK;
}

static kw_status check_sorter(const kw_op *op, const kw_value *args) {
  if (args[SORTER].tag != KW_TAG_TENSOR) return KW_OK;
  const kw_tensor_ref *sequence = args[SEQUENCE].u.tensor, *sorter = args[SORTER].u.tensor;
  char got[KW_SHAPE_TEXT], wanted[KW_SHAPE_TEXT];
  if (sorter->dtype != KW_I64) {
    return kw_op_fail(op, SORTER, "expected i64, got %s; cast it first", kw_dtype_name(sorter->dtype));
  }
  if (sorter->rank == sequence->rank && memcmp(sorter->shape, sequence->shape, sorter->rank * sizeof(int64_t)) == 0) {
    return KW_OK;
  }
  return kw_op_fail(op, SORTER, "expected %s, the shape of 'sorted_sequence', got %s",
                    kw_shape_text(sequence->rank, sequence->shape, wanted),
                    kw_shape_text(sorter->rank, sorter->shape, got));
}

kw_status kw_infer_searchsorted(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand) {
  (void)out_expand;
  const kw_tensor_ref *sequence = args[SEQUENCE].u.tensor, *self = args[SELF].u.tensor;
  char got[KW_SHAPE_TEXT], wanted[KW_SHAPE_TEXT];
  kw_infer_take_shape(self, out);
  if (sequence->rank == 0) return kw_infer_fail_shape(op, args, SEQUENCE, "one dimension at least");
  const uint32_t last = sequence->rank - 1u;
  const bool rows = sequence->rank == self->rank && memcmp(sequence->shape, self->shape, last * sizeof(int64_t)) == 0;
  if (last > 0 && !rows) {
    return kw_op_fail(op, SELF,
                      "shape %s and shape %s of 'sorted_sequence' differ before the last dimension; only a "
                      "sequence of one dimension serves any shape",
                      kw_shape_text(self->rank, self->shape, got),
                      kw_shape_text(sequence->rank, sequence->shape, wanted));
  }
  if (args[OUT_INT32].u.b && sequence->shape[last] > INT32_MAX) {
    return kw_op_fail(op, OUT_INT32, "places among %" PRId64 " elements do not fit an i32", sequence->shape[last]);
  }
  kw_status status = check_side(op, args);
  return status == KW_OK ? check_sorter(op, args) : status;
}
