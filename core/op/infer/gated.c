/* SPDX-License-Identifier: Apache-2.0
 *
 * Gated activations and rotary positions: shapes, and what they demand of their arguments.
 */
#include "op/infer/shape_rules.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Argument "dim" as a dimension of a tensor that halves along it. */
static kw_status find_halved(const kw_op *op, const kw_value *args, const kw_tensor_ref *self, uint32_t *out_dim) {
  const kw_value *dim = kw_infer_find_arg(op, args, "dim");
  const uint32_t index = kw_infer_arg_index(args, dim), self_index = index - 1;
  if (self->rank == 0) return kw_op_fail(op, self_index, "a tensor of rank 0 has no halves");
  uint32_t mask = 0;
  kw_status status = kw_infer_mark_dim(op, index, self, dim->u.i, &mask);
  if (status != KW_OK) return status;
  *out_dim = (uint32_t)__builtin_ctz(mask);
  if (self->shape[*out_dim] % 2 == 0) return KW_OK;
  return kw_op_fail(op, self_index, "dimension %u has size %" PRId64 ", which does not halve", *out_dim,
                    self->shape[*out_dim]);
}

kw_status kw_infer_glu(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand) {
  (void)out_expand;
  const kw_tensor_ref *self = args[0].u.tensor;
  uint32_t dim = 0;
  kw_status status = find_halved(op, args, self, &dim);
  if (status != KW_OK) return status;
  out->rank = self->rank;
  memcpy(out->sizes, self->shape, sizeof out->sizes);
  out->sizes[dim] /= 2;
  return KW_OK;
}

/* Argument `index` has this shape, which is of `what`. */
static kw_status check_shape(const kw_op *op, const kw_value *args, uint32_t index, const kw_infer_dims *shape,
                             const char *what) {
  const kw_tensor_ref *tensor = args[index].u.tensor;
  char wanted[KW_SHAPE_TEXT], got[KW_SHAPE_TEXT];
  if (tensor->rank == shape->rank && memcmp(tensor->shape, shape->sizes, shape->rank * sizeof(int64_t)) == 0) {
    return KW_OK;
  }
  return kw_op_fail(op, index, "expected shape %s, that of %s, got %s",
                    kw_shape_text(shape->rank, shape->sizes, wanted), what,
                    kw_shape_text(tensor->rank, tensor->shape, got));
}

kw_status kw_infer_glu_backward(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand) {
  (void)out_expand;
  const kw_tensor_ref *self = args[1].u.tensor;
  uint32_t dim = 0;
  kw_status status = find_halved(op, args, self, &dim);
  if (status != KW_OK) return status;
  out->rank = self->rank;
  memcpy(out->sizes, self->shape, sizeof out->sizes);
  kw_infer_dims half = *out;
  half.sizes[dim] /= 2;
  return check_shape(op, args, 0, &half, "a half of 'self'");
}

/* All tensors, and all results, have one shape. */
kw_status kw_infer_same(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand) {
  (void)out_expand;
  char what[48];
  out->rank = args[0].u.tensor->rank;
  memcpy(out->sizes, args[0].u.tensor->shape, sizeof out->sizes);
  for (uint32_t r = 1; r < op->schema.result_count; ++r) out[r] = out[0];
  snprintf(what, sizeof what, "'%s'", op->schema.args[0].name);
  kw_status status = KW_OK;
  for (uint32_t i = 1; i < op->schema.arg_count && status == KW_OK; ++i) {
    if (args[i].tag == KW_TAG_TENSOR) status = check_shape(op, args, i, out, what);
  }
  return status;
}

/* self [.., rows, width], cos and sin [positions, pairs], positions to broadcast to [.., rows]. */
kw_status kw_infer_rope(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand) {
  (void)out_expand;
  const kw_tensor_ref *self = args[0].u.tensor, *cosine = args[1].u.tensor;
  char text[KW_SHAPE_TEXT];
  if (self->rank < 2) {
    return kw_op_fail(op, 0, "expected rows and a width at least, got shape %s",
                      kw_shape_text(self->rank, self->shape, text));
  }
  if (cosine->rank != 2) {
    return kw_op_fail(op, 1, "expected [positions, pairs], got shape %s",
                      kw_shape_text(cosine->rank, cosine->shape, text));
  }
  if (cosine->shape[1] > self->shape[self->rank - 1] / 2) {
    return kw_op_fail(op, 1, "its %" PRId64 " pairs do not fit into rows of 'self' of width %" PRId64, cosine->shape[1],
                      self->shape[self->rank - 1]);
  }
  kw_infer_dims table = {2, {cosine->shape[0], cosine->shape[1]}}, rows = {self->rank - 1u, {0}};
  kw_status status = check_shape(op, args, 2, &table, "'cos'");
  if (status != KW_OK) return status;
  memcpy(rows.sizes, self->shape, rows.rank * sizeof(int64_t));
  if (args[3].tag == KW_TAG_TENSOR) {
    status = kw_infer_broadcast(op, 3, args[3].u.tensor, "rows", &rows);
    if (status == KW_OK && self->numel > 0 && cosine->shape[0] == 0) {
      status = kw_op_fail(op, 1, "it has no positions, so there is no valid one");
    }
  } else if (rows.sizes[rows.rank - 1] > cosine->shape[0]) {
    status = kw_op_fail(op, 1, "it has %" PRId64 " positions, fewer than 'self' has rows: %" PRId64, cosine->shape[0],
                        rows.sizes[rows.rank - 1]);
  }
  out->rank = self->rank;
  memcpy(out->sizes, self->shape, sizeof out->sizes);
  return status;
}
