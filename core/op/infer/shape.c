/* SPDX-License-Identifier: Apache-2.0
 *
 * Result shapes, by the shape rules of the op table.
 */
#include "op/infer/shape.h"

#include "base/dtype.h"
#include "base/error.h"
#include "base/scalar.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static bool has_shape(const kw_tensor_ref *tensor, const kw_infer_dims *s) {
  return tensor->rank == s->rank && memcmp(tensor->shape, s->sizes, s->rank * sizeof(int64_t)) == 0;
}

kw_status kw_infer_elementwise(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand) {
  const bool like_first = op->row.shape == KW_SHAPE_INPLACE || op->row.shape == KW_SHAPE_LIKE;
  const char *fixed = like_first ? op->schema.args[0].name : NULL;
  bool first = true;
  for (uint32_t i = 0; i < op->schema.arg_count; ++i) {
    if (args[i].tag != KW_TAG_TENSOR) continue;
    kw_status status = KW_OK;
    if (first) {
      out->rank = args[i].u.tensor->rank;
      memcpy(out->sizes, args[i].u.tensor->shape, sizeof out->sizes);
    } else {
      status = kw_infer_broadcast(op, i, args[i].u.tensor, fixed, out);
    }
    if (status != KW_OK) return status;
    first = false;
  }
  for (uint32_t i = 0; i < op->schema.arg_count; ++i) {
    *out_expand = *out_expand || (args[i].tag == KW_TAG_TENSOR && !has_shape(args[i].u.tensor, out));
  }
  return KW_OK;
}

/* The dimensions that a reduction removes, as a mask; "dim" none or empty = all, but an empty list of any.dims = none.
 */
static kw_status reduced_dims(const kw_op *op, const kw_value *args, uint32_t *out_mask) {
  const kw_tensor_ref *self = args[0].u.tensor;
  const kw_value *dim = kw_infer_find_arg(op, args, "dim");
  const bool is_list = dim && dim->tag == KW_TAG_INT_LIST, is_int = dim && dim->tag == KW_TAG_INT;
  kw_status status = KW_OK;
  uint32_t mask = 0;
  if (is_int) status = kw_infer_mark_dim(op, kw_infer_arg_index(args, dim), self, dim->u.i, &mask);
  for (uint32_t i = 0; is_list && i < dim->count && status == KW_OK; ++i) {
    status = kw_infer_mark_dim(op, kw_infer_arg_index(args, dim), self, dim->u.ints[i], &mask);
  }
  const bool said = is_int || (is_list && (dim->count || op->row.result == KW_RESULT_ANY));
  *out_mask = said ? mask : (1u << self->rank) - 1;
  return status;
}

static bool has_identity(const kw_op *op) {
  return op->row.result == KW_RESULT_SUM || op->row.result == KW_RESULT_MEAN || op->row.result == KW_RESULT_ANY ||
         op->row.result == KW_RESULT_FLOAT;
}

/* All results have the dims of the first. */
static void repeat_dims(const kw_op *op, kw_infer_dims *out) {
  for (uint32_t i = 1; i < op->schema.result_count; ++i) out[i] = out[0];
}

kw_status kw_infer_reduction(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand) {
  (void)out_expand;
  const kw_tensor_ref *self = args[0].u.tensor;
  uint32_t mask;
  kw_status status = reduced_dims(op, args, &mask);
  if (status != KW_OK) return status;
  const kw_value *keepdim = kw_infer_find_arg(op, args, "keepdim");
  out->rank = 0;
  for (uint32_t i = 0; i < self->rank; ++i) {
    bool reduced = mask >> i & 1;
    if (reduced && self->shape[i] == 0 && !has_identity(op)) {
      char text[KW_SHAPE_TEXT];
      return kw_op_fail(op, 0, "shape %s has no elements along dimension %u, so there is nothing to choose from",
                        kw_shape_text(self->rank, self->shape, text), i);
    }
    if (!reduced) out->sizes[out->rank++] = self->shape[i];
    if (reduced && keepdim && keepdim->u.b) out->sizes[out->rank++] = 1;
  }
  repeat_dims(op, out);
  return KW_OK;
}

kw_status kw_infer_scan(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand) {
  (void)out_expand;
  const kw_tensor_ref *self = args[0].u.tensor;
  const kw_value *dim = kw_infer_find_arg(op, args, "dim");
  uint32_t mask = 0;
  out->rank = self->rank;
  memcpy(out->sizes, self->shape, self->rank * sizeof(int64_t));
  repeat_dims(op, out);
  return kw_infer_mark_dim(op, kw_infer_arg_index(args, dim), self, dim->u.i, &mask);
}

/* The product of arguments `first` and `first` + 1: matrices, or with `batch` lists of matrices, as many in both. */
static kw_status infer_product(const kw_op *op, const kw_value *args, uint32_t first, bool batch, kw_infer_dims *out) {
  const kw_tensor_ref *a = args[first].u.tensor, *b = args[first + 1].u.tensor;
  const uint32_t rank = batch ? 3 : 2;
  char text_a[KW_SHAPE_TEXT], text_b[KW_SHAPE_TEXT];
  for (uint32_t i = first; i < first + 2; ++i) {
    const kw_tensor_ref *tensor = args[i].u.tensor;
    if (tensor->rank != rank) {
      return kw_op_fail(
          op, i,
          batch ? "expected rank 3, matrices one after the other, got shape %s" : "expected a matrix, got shape %s",
          kw_shape_text(tensor->rank, tensor->shape, text_a));
    }
  }
  if (batch && a->shape[0] != b->shape[0]) {
    return kw_op_fail(op, first + 1, "shapes %s and %s cannot be multiplied: %" PRId64 " matrices meet %" PRId64,
                      kw_shape_text(rank, a->shape, text_a), kw_shape_text(rank, b->shape, text_b), a->shape[0],
                      b->shape[0]);
  }
  if (a->shape[rank - 1] != b->shape[rank - 2]) {
    return kw_op_fail(op, first + 1, "shapes %s and %s cannot be multiplied: %" PRId64 " columns meet %" PRId64 " rows",
                      kw_shape_text(rank, a->shape, text_a), kw_shape_text(rank, b->shape, text_b), a->shape[rank - 1],
                      b->shape[rank - 2]);
  }
  out->rank = rank;
  memcpy(out->sizes, a->shape, (rank - 1) * sizeof(int64_t));
  out->sizes[rank - 1] = b->shape[rank - 1];
  return KW_OK;
}

kw_status kw_infer_mm(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand) {
  (void)out_expand;
  return infer_product(op, args, 0, false, out);
}

kw_status kw_infer_bmm(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand) {
  (void)out_expand;
  return infer_product(op, args, 0, true, out);
}

kw_status kw_infer_addmm(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand) {
  (void)out_expand;
  kw_status status = infer_product(op, args, 1, false, out);
  return status == KW_OK ? kw_infer_broadcast(op, 0, args[0].u.tensor, "mat1 @ mat2", out) : status;
}

kw_status kw_infer_size(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand) {
  (void)out_expand;
  const kw_value *size = kw_infer_find_arg(op, args, "size");
  const uint32_t index = kw_infer_arg_index(args, size);
  if (size->count > KW_MAX_RANK) {
    return kw_op_fail(op, index, "rank %u is over the maximum of %d", size->count, KW_MAX_RANK);
  }
  for (uint32_t d = 0; d < size->count; ++d) {
    if (size->u.ints[d] < 0) {
      return kw_op_fail(op, index, "size %" PRId64 " of dimension %u is negative", size->u.ints[d], d);
    }
  }
  out->rank = size->count;
  if (size->count > 0) memcpy(out->sizes, size->u.ints, size->count * sizeof(int64_t)); /* an empty list may be NULL */
  return KW_OK;
}

static int64_t as_integer(const kw_value *scalar) {
  return scalar->kind == KW_SCALAR_BOOL ? scalar->u.b : scalar->u.i;
}

/* In integers without overflow: the distance and the step as unsigned numbers. */
static kw_status count_integers(const kw_op *op, const kw_value *args, uint64_t *out_count) {
  const int64_t start = as_integer(&args[0]), end = as_integer(&args[1]), step = as_integer(&args[2]);
  if (step == 0) return kw_op_fail(op, 2, "the step is 0");
  if (step > 0 ? start > end : start < end) {
    return kw_op_fail(op, 2, "steps of %" PRId64 " do not lead from %" PRId64 " to %" PRId64, step, start, end);
  }
  const uint64_t distance = step > 0 ? (uint64_t)end - (uint64_t)start : (uint64_t)start - (uint64_t)end;
  const uint64_t stride = step > 0 ? (uint64_t)step : 0 - (uint64_t)step;
  *out_count = distance / stride + (distance % stride != 0);
  return KW_OK;
}

/* In f64, as ATen counts. */
static kw_status count_reals(const kw_op *op, const kw_value *args, uint64_t *out_count) {
  double number[3];
  for (uint32_t i = 0; i < 3; ++i) {
    number[i] = kw_scalar_real(&args[i]);
    if (args[i].kind == KW_SCALAR_C128) return kw_op_fail(op, i, "a complex number has no order");
    if (!isfinite(number[i])) return kw_op_fail(op, i, "%g is not finite", number[i]);
  }
  if (number[2] == 0) return kw_op_fail(op, 2, "the step is 0");
  if (number[2] > 0 ? number[0] > number[1] : number[0] < number[1]) {
    return kw_op_fail(op, 2, "steps of %g do not lead from %g to %g", number[2], number[0], number[1]);
  }
  const double count = ceil((number[1] - number[0]) / number[2]);
  *out_count = count < 0x1p63 ? (uint64_t)count : UINT64_MAX;
  return KW_OK;
}

/* Arguments 0 to 2: start, end, step. */
kw_status kw_infer_arange(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand) {
  (void)out_expand;
  bool integers = true;
  for (uint32_t i = 0; i < 3; ++i) integers = integers && args[i].kind <= KW_SCALAR_I64;
  uint64_t count = 0;
  kw_status status = integers ? count_integers(op, args, &count) : count_reals(op, args, &count);
  if (status != KW_OK) return status;
  if (count > INT64_MAX) return kw_op_fail(op, 1, "in steps of 'step' there would be more than 2^63 - 1 elements");
  *out = (kw_infer_dims){1, {(int64_t)count}};
  return KW_OK;
}

static kw_infer_shape_fn *const shape_rules[] = {
#define KW_SHAPE_RULE(name, infer, cases, text) [KW_SHAPE_##name] = kw_infer_##infer,
#include "shape_rules.def"
};

kw_status kw_infer_shape(const kw_op *op, const kw_value *args, kw_infer_dims out_dims[KW_MAX_RESULTS],
                         bool *out_expand) {
  return shape_rules[op->row.shape](op, args, out_dims, out_expand);
}
