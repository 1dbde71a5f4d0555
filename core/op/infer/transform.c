/* SPDX-License-Identifier: Apache-2.0
 *
 * Distances and Fourier transforms: shapes, and what they demand of their arguments.
 */
#include "op/infer/shape_rules.h"

#include <inttypes.h>
#include <string.h>

/* ---- Distances --------------------------------------------------------------------------------------------------- */

static kw_status check_matrix(const kw_op *op, const kw_value *args, uint32_t index, uint32_t least, uint32_t most) {
  const kw_tensor_ref *tensor = args[index].u.tensor;
  char text[KW_SHAPE_TEXT];
  if (tensor->rank >= least && tensor->rank <= most) return KW_OK;
  return kw_op_fail(op, index, "expected a matrix%s, got shape %s", most > least ? ", or several of them" : "",
                    kw_shape_text(tensor->rank, tensor->shape, text));
}

static kw_status check_norm(const kw_op *op, const kw_value *args) {
  const kw_value *p = kw_infer_find_arg(op, args, "p"), *mode = kw_infer_find_arg(op, args, "compute_mode");
  if (!(p->u.f >= 0)) return kw_op_fail(op, kw_infer_arg_index(args, p), "there is no norm with p = %g", p->u.f);
  if (mode && mode->tag == KW_TAG_INT && (mode->u.i < 0 || mode->u.i > 2)) {
    return kw_op_fail(op, kw_infer_arg_index(args, mode), "%" PRId64 " is not known; it is none, 0, 1 or 2", mode->u.i);
  }
  return KW_OK;
}

kw_status kw_infer_cdist(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand) {
  (void)out_expand;
  const kw_tensor_ref *x1 = args[0].u.tensor, *x2 = args[1].u.tensor;
  char a[KW_SHAPE_TEXT], b[KW_SHAPE_TEXT];
  kw_status status = check_matrix(op, args, 0, 2, KW_MAX_RANK);
  if (status == KW_OK) status = check_matrix(op, args, 1, 2, KW_MAX_RANK);
  if (status == KW_OK) status = check_norm(op, args);
  if (status != KW_OK) return status;
  if (x1->shape[x1->rank - 1] != x2->shape[x2->rank - 1]) {
    return kw_op_fail(op, 1, "shapes %s and %s have rows of %" PRId64 " and of %" PRId64 " elements",
                      kw_shape_text(x1->rank, x1->shape, a), kw_shape_text(x2->rank, x2->shape, b),
                      x1->shape[x1->rank - 1], x2->shape[x2->rank - 1]);
  }
  kw_tensor_ref batch = *x2; /* what stands before the matrices */
  batch.rank = (uint8_t)(x2->rank - 2);
  kw_infer_take_shape(x1, out);
  out->rank -= 2;
  status = kw_infer_broadcast(op, 1, &batch, NULL, out);
  out->sizes[out->rank++] = x1->shape[x1->rank - 2];
  out->sizes[out->rank++] = x2->shape[x2->rank - 2];
  return status;
}

kw_status kw_infer_pdist(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand) {
  (void)out_expand;
  kw_status status = check_matrix(op, args, 0, 2, 2);
  if (status == KW_OK) status = check_norm(op, args);
  if (status != KW_OK) return status;
  const int64_t n = args[0].u.tensor->shape[0], even = n % 2 ? n - 1 : n, odd = n % 2 ? n : n - 1;
  *out = (kw_infer_dims){1, {0}};
  if (n > 0 && __builtin_mul_overflow(even / 2, odd, &out->sizes[0])) {
    return kw_op_fail(op, 0, "%" PRId64 " rows make more than 2^63 - 1 pairs", n);
  }
  return KW_OK;
}

/* ---- Fourier transforms ------------------------------------------------------------------------------------------ */

/* Where the last dimension is of another size in the result: *out_last, of `self`. */
static kw_status check_dims(const kw_op *op, const kw_value *args, uint32_t *out_last) {
  const kw_tensor_ref *self = args[0].u.tensor;
  const kw_value *dims = &args[1];
  char text[KW_SHAPE_TEXT];
  kw_status status = KW_OK;
  uint32_t mask = 0;
  for (uint32_t k = 0; k < dims->count && status == KW_OK; ++k) {
    if (self->rank == 0) return kw_op_fail(op, 0, "a tensor of rank 0 has no dimension to transform");
    status = kw_infer_mark_dim(op, 1, self, dims->u.ints[k], &mask);
    if (status != KW_OK) return status;
    *out_last = (uint32_t)(dims->u.ints[k] < 0 ? dims->u.ints[k] + self->rank : dims->u.ints[k]);
    if (self->shape[*out_last] == 0) {
      return kw_op_fail(op, 0, "dimension %u of shape %s has no elements to transform", *out_last,
                        kw_shape_text(self->rank, self->shape, text));
    }
  }
  if (args[2].u.i >= 0 && args[2].u.i <= 2) return KW_OK;
  return kw_op_fail(op, 2, "%" PRId64 " is not known; it is 0 (none), 1 (by the root of n) or 2 (by n)", args[2].u.i);
}

kw_status kw_infer_fft(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand) {
  (void)out_expand;
  const kw_tensor_ref *self = args[0].u.tensor;
  const kw_value *onesided = kw_infer_find_arg(op, args, "onesided");
  const kw_value *size = kw_infer_find_arg(op, args, "last_dim_size");
  uint32_t last = 0;
  kw_infer_take_shape(self, out);
  kw_status status = check_dims(op, args, &last);
  if (status != KW_OK) return status;
  if (args[1].count == 0 && (onesided || size)) return kw_op_fail(op, 1, "it is empty; give at least one dimension");
  if (onesided && onesided->u.b) out->sizes[last] = self->shape[last] / 2 + 1;
  if (!size) return KW_OK;
  if (size->u.i < 1 || size->u.i / 2 + 1 != self->shape[last]) {
    return kw_op_fail(op, 3, "%" PRId64 " numbers along dimension %u are no half of %" PRId64 ", which has %" PRId64,
                      self->shape[last], last, size->u.i, size->u.i < 1 ? 0 : size->u.i / 2 + 1);
  }
  out->sizes[last] = size->u.i;
  return KW_OK;
}
