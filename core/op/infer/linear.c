/* SPDX-License-Identifier: Apache-2.0
 *
 * Linear layers whose weights come in another form than a dense matrix, and what puts them into it.
 */
#include "op/infer/shape_rules.h"

#include <inttypes.h>

/* Refuses a tensor that has another shape. */
static kw_status check_shape(const kw_op *op, const kw_value *args, uint32_t index, uint32_t rank,
                             const int64_t *shape) {
  char wanted[KW_SHAPE_TEXT], got[KW_SHAPE_TEXT];
  if (args[index].tag == KW_TAG_NONE) return KW_OK;
  const kw_tensor_ref *tensor = args[index].u.tensor;
  bool same = tensor->rank == rank;
  for (uint32_t d = 0; d < rank && same; ++d) same = tensor->shape[d] == shape[d];
  if (same) return KW_OK;
  return kw_op_fail(op, index, "expected shape %s, got %s", kw_shape_text(rank, shape, wanted),
                    kw_shape_text(tensor->rank, tensor->shape, got));
}

static kw_status check_rank(const kw_op *op, const kw_value *args, uint32_t index, uint32_t rank, const char *what) {
  const kw_tensor_ref *tensor = args[index].u.tensor;
  char text[KW_SHAPE_TEXT];
  if (tensor->rank == rank) return KW_OK;
  return kw_op_fail(op, index, "expected %s, got shape %s", what, kw_shape_text(tensor->rank, tensor->shape, text));
}

static kw_status check_columns(const kw_op *op, const kw_value *args, int64_t multiple) {
  const int64_t k = args[0].u.tensor->shape[1];
  if (k % multiple == 0) return KW_OK;
  return kw_op_fail(op, 0, "%" PRId64 " columns are no multiple of %" PRId64, k, multiple);
}

/* [m, n] of input [m, k], and what all have: a bias [n]. */
static kw_status finish(const kw_op *op, const kw_value *args, int64_t n, kw_infer_dims *out) {
  *out = (kw_infer_dims){2, {args[0].u.tensor->shape[0], n}};
  return check_shape(op, args, kw_infer_arg_index(args, kw_infer_find_arg(op, args, "bias")), 1, &n);
}

/* A scale for all rows, or one for each. */
static kw_status check_scale(const kw_op *op, const kw_value *args, uint32_t index, int64_t rows) {
  return args[index].u.tensor->rank == 0 ? KW_OK : check_shape(op, args, index, 1, &rows);
}

kw_status kw_infer_linear(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand) {
  (void)out_expand;
  kw_status status = check_rank(op, args, 0, 2, "a matrix");
  if (status == KW_OK) status = check_rank(op, args, 1, 2, "a matrix");
  if (status != KW_OK) return status;
  const int64_t n = args[1].u.tensor->shape[0], k = args[0].u.tensor->shape[1];
  status = check_shape(op, args, 1, 2, (int64_t[]){n, k});
  if (status == KW_OK) status = check_scale(op, args, 2, args[0].u.tensor->shape[0]);
  if (status == KW_OK) status = check_scale(op, args, 3, n);
  return status == KW_OK ? finish(op, args, n, out) : status;
}

kw_status kw_infer_int4_linear(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand) {
  (void)out_expand;
  kw_status status = check_rank(op, args, 0, 2, "a matrix");
  for (uint32_t i = 1; i <= 3 && status == KW_OK; ++i) status = check_rank(op, args, i, 2, "a matrix");
  if (status == KW_OK) status = check_columns(op, args, 2);
  if (status != KW_OK) return status;
  const int64_t n = args[1].u.tensor->shape[0], k = args[0].u.tensor->shape[1], groups = args[2].u.tensor->shape[1];
  status = check_shape(op, args, 1, 2, (int64_t[]){n, k / 2});
  if (status == KW_OK) status = check_shape(op, args, 2, 2, (int64_t[]){n, groups});
  if (status == KW_OK) status = check_shape(op, args, 3, 2, (int64_t[]){n, groups});
  if (status == KW_OK && (groups == 0 ? k != 0 : k % groups != 0)) {
    return kw_op_fail(op, 2, "%" PRId64 " groups do not divide the %" PRId64 " columns of 'input' evenly", groups, k);
  }
  return status == KW_OK ? finish(op, args, n, out) : status;
}

kw_status kw_infer_sparse24_linear(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand) {
  (void)out_expand;
  kw_status status = check_rank(op, args, 0, 2, "a matrix");
  if (status == KW_OK) status = check_rank(op, args, 1, 2, "a matrix");
  if (status == KW_OK) status = check_columns(op, args, 4);
  if (status != KW_OK) return status;
  const int64_t n = args[1].u.tensor->shape[0], k = args[0].u.tensor->shape[1];
  status = check_shape(op, args, 1, 2, (int64_t[]){n, k / 2});
  if (status == KW_OK) status = check_shape(op, args, 2, 2, (int64_t[]){n, k / 8 + (k % 8 != 0)});
  return status == KW_OK ? finish(op, args, n, out) : status;
}

kw_status kw_infer_bsr_linear(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand) {
  (void)out_expand;
  kw_status status = check_rank(op, args, 0, 2, "a matrix");
  if (status == KW_OK) status = check_rank(op, args, 1, 1, "rank 1, where each row of blocks starts and the last ends");
  if (status == KW_OK) status = check_rank(op, args, 3, 3, "rank 3, blocks one after the other");
  if (status != KW_OK) return status;
  const kw_tensor_ref *rows = args[1].u.tensor, *values = args[3].u.tensor;
  const int64_t height = values->shape[1], width = values->shape[2];
  int64_t n;
  if (rows->shape[0] == 0) return kw_op_fail(op, 1, "it is empty; it ends with the number of blocks");
  if (height == 0 || width == 0)
    return kw_op_fail(op, 3, "blocks of %" PRId64 " x %" PRId64 " hold nothing", height, width);
  if (__builtin_mul_overflow(rows->shape[0] - 1, height, &n)) {
    return kw_op_fail(op, 1, "%" PRId64 " rows of blocks have more than 2^63 - 1 rows", rows->shape[0] - 1);
  }
  status = check_columns(op, args, width);
  if (status == KW_OK) status = check_shape(op, args, 2, 1, values->shape);
  return status == KW_OK ? finish(op, args, n, out) : status;
}

kw_status kw_infer_int4_pack(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand) {
  (void)out_expand;
  const kw_tensor_ref *input = args[0].u.tensor;
  if (input->rank == 0) return kw_op_fail(op, 0, "a tensor of rank 0 has no pairs");
  out->rank = input->rank;
  for (uint32_t d = 0; d < input->rank; ++d) out->sizes[d] = input->shape[d];
  int64_t *last = &out->sizes[input->rank - 1u];
  if (*last % 2 != 0) return kw_op_fail(op, 0, "the last dimension's size, %" PRId64 ", is odd", *last);
  *last /= 2;
  return KW_OK;
}

kw_status kw_infer_sparse24_compress(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand) {
  (void)out_expand;
  kw_status status = check_rank(op, args, 0, 2, "a matrix");
  if (status == KW_OK) status = check_columns(op, args, 4);
  if (status != KW_OK) return status;
  const int64_t n = args[0].u.tensor->shape[0], k = args[0].u.tensor->shape[1];
  out[0] = (kw_infer_dims){2, {n, k / 2}};
  out[1] = (kw_infer_dims){2, {n, k / 8 + (k % 8 != 0)}};
  return KW_OK;
}
