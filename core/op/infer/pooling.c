/* SPDX-License-Identifier: Apache-2.0
 *
 * Pools: how many windows there are along each of the last dimensions, and what windows demand. As in ATen a tensor has
 * one dimension of channels before the pooled ones, and may have one of batches before that.
 */
#include "op/infer/shape_rules.h"

#include <inttypes.h>
#include <limits.h>
#include <string.h>

enum { MOST_DIMS = 3 };

/* The windows along one dimension. */
typedef struct pool_axis {
  int64_t size;
  int64_t kernel, stride, padding, dilation;
} pool_axis;

/* How many dimensions the op pools: the digit in its name, "avg_pool2d". */
static uint32_t pooled_dims(const kw_op *op) {
  return (uint32_t)(strstr(op->schema.name, "pool")[4] - '0');
}

/* Batches and channels may be none, the dimensions that are pooled not. */
static kw_status check_input(const kw_op *op, const kw_value *args, const kw_value *input) {
  const kw_tensor_ref *self = input->u.tensor;
  const uint32_t dims = pooled_dims(op), index = kw_infer_arg_index(args, input);
  char text[KW_SHAPE_TEXT];
  kw_shape_text(self->rank, self->shape, text);
  if (self->rank != dims + 1 && self->rank != dims + 2) {
    return kw_op_fail(op, index, "expected rank %u (channels, then what is pooled) or %u (batches of that), got %s",
                      dims + 1, dims + 2, text);
  }
  for (uint32_t d = self->rank - dims; d < self->rank; ++d) {
    if (self->shape[d] > 0 && self->shape[d] <= INT64_MAX / 2) continue;
    return kw_op_fail(op, index, "shape %s has %s elements along dimension %u to be pooled", text,
                      self->shape[d] ? "too many" : "no", d);
  }
  return KW_OK;
}

/* An int[N] with a number for each pooled dimension, or one for all of them; each in [low, 2^31). */
static kw_status read_numbers(const kw_op *op, const kw_value *args, const kw_value *list, int64_t low,
                              int64_t out[MOST_DIMS]) {
  const uint32_t dims = pooled_dims(op), index = kw_infer_arg_index(args, list);
  if (list->count != 1 && list->count != dims) {
    return kw_op_fail(op, index, "expected %u number%s, or one for all, got %u", dims, dims > 1 ? "s" : "",
                      list->count);
  }
  for (uint32_t d = 0; d < dims; ++d) {
    out[d] = list->u.ints[list->count == 1 ? 0 : d];
    if (out[d] < low || out[d] > INT_MAX) {
      return kw_op_fail(op, index, "%" PRId64 " is outside [%" PRId64 ", %d]", out[d], low, INT_MAX);
    }
  }
  return KW_OK;
}

/* The axes of a tensor's pooled dimensions, by the arguments that say how windows lie. */
static kw_status read_axes(const kw_op *op, const kw_value *args, const kw_tensor_ref *self, pool_axis out[MOST_DIMS]) {
  const uint32_t dims = pooled_dims(op);
  const kw_value *kernel = kw_infer_find_arg(op, args, "kernel_size"), *stride = kw_infer_find_arg(op, args, "stride");
  const kw_value *dilation = kw_infer_find_arg(op, args, "dilation");
  int64_t kernels[MOST_DIMS], strides[MOST_DIMS], paddings[MOST_DIMS], dilations[MOST_DIMS] = {1, 1, 1}, all = 1;
  kw_status status = read_numbers(op, args, kernel, 1, kernels);
  if (status == KW_OK) status = read_numbers(op, args, stride->count ? stride : kernel, 1, strides);
  if (status == KW_OK) status = read_numbers(op, args, kw_infer_find_arg(op, args, "padding"), 0, paddings);
  if (status == KW_OK && dilation) status = read_numbers(op, args, dilation, 1, dilations);
  for (uint32_t d = 0; d < dims && status == KW_OK; ++d) {
    out[d] = (pool_axis){self->shape[self->rank - dims + d], kernels[d], strides[d], paddings[d], dilations[d]};
    if (__builtin_mul_overflow(all, kernels[d], &all)) {
      status = kw_op_fail(op, kw_infer_arg_index(args, kernel), "a window has more than 2^63 elements");
    }
  }
  return status;
}

/* A dilated window may step over all of a short dimension: every one that begins in the padding has to meet it. Those
 * that begin inside do. */
static bool meet_elements(const pool_axis *axis, int64_t windows) {
  int64_t start = -axis->padding;
  for (; start < 0 && windows > 0 && axis->size < axis->dilation; start += axis->stride, --windows) {
    int64_t behind = -start % axis->dilation; /* of the last step before element 0 */
    if (behind > 0 && axis->dilation - behind >= axis->size) return false;
  }
  return true;
}

/* ceil_mode adds a window for what is left at the end, if it begins before the padding there. */
static kw_status count_windows(const kw_op *op, const kw_value *args, const pool_axis *axis, uint32_t dim,
                               int64_t *out_windows) {
  const uint32_t padding = kw_infer_arg_index(args, kw_infer_find_arg(op, args, "padding"));
  const int64_t span = (axis->kernel - 1) * axis->dilation + 1, room = axis->size - span + 2 * axis->padding;
  if (axis->padding > span / 2) {
    return kw_op_fail(op, padding, "%" PRId64 " is more than half of the %" PRId64 " elements that a window spans",
                      axis->padding, span);
  }
  int64_t windows = room >= 0 ? room / axis->stride + 1 : 0;
  if (kw_infer_find_arg(op, args, "ceil_mode")->u.b) {
    windows += room >= 0 ? room % axis->stride != 0 : room > -axis->stride;
    if (windows > 0 && (windows - 1) * axis->stride >= axis->size + axis->padding) --windows;
  }
  if (windows == 0) {
    return kw_op_fail(op, kw_infer_arg_index(args, kw_infer_find_arg(op, args, "kernel_size")),
                      "a window that spans %" PRId64 " elements does not fit into dimension %u, which has %" PRId64
                      " with its padding",
                      span, dim, axis->size + 2 * axis->padding);
  }
  if (!meet_elements(axis, windows)) {
    return kw_op_fail(op, padding, "with %" PRId64 ", a window meets none of the %" PRId64 " elements of dimension %u",
                      axis->padding, axis->size, dim);
  }
  *out_windows = windows;
  return KW_OK;
}

/* The shape of what comes of pooling `input`. */
static kw_status pooled_shape(const kw_op *op, const kw_value *args, const kw_value *input, kw_infer_dims *out) {
  const kw_tensor_ref *self = input->u.tensor;
  const uint32_t dims = pooled_dims(op);
  pool_axis axes[MOST_DIMS];
  kw_status status = check_input(op, args, input);
  if (status == KW_OK) status = read_axes(op, args, self, axes);
  if (status != KW_OK) return status;
  kw_infer_take_shape(self, out);
  for (uint32_t d = 0; d < dims && status == KW_OK; ++d) {
    const uint32_t dim = self->rank - dims + d;
    status = count_windows(op, args, &axes[d], dim, &out->sizes[dim]);
  }
  const kw_value *divisor = kw_infer_find_arg(op, args, "divisor_override");
  if (status == KW_OK && divisor && divisor->tag == KW_TAG_INT && divisor->u.i == 0) {
    return kw_op_fail(op, kw_infer_arg_index(args, divisor), "0 divides nothing; none stands for the size of a window");
  }
  return status;
}

/* Adaptive windows are found by products of sizes. */
static kw_status check_products(const kw_op *op, uint32_t index, const kw_tensor_ref *self, const int64_t *sizes) {
  for (uint32_t d = self->rank - pooled_dims(op); d < self->rank; ++d) {
    int64_t product;
    if (!__builtin_mul_overflow(self->shape[d], sizes[d], &product) && product < INT64_MAX / 2) continue;
    return kw_op_fail(op, index, "%" PRId64 " windows over %" PRId64 " elements are too many", sizes[d],
                      self->shape[d]);
  }
  return KW_OK;
}

kw_status kw_infer_pool(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand) {
  (void)out_expand;
  kw_status status = pooled_shape(op, args, &args[0], out);
  for (uint32_t r = 1; r < op->schema.result_count; ++r) out[r] = out[0];
  return status;
}

kw_status kw_infer_adaptive_pool(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand) {
  (void)out_expand;
  const kw_tensor_ref *self = args[0].u.tensor;
  const uint32_t dims = pooled_dims(op);
  int64_t sizes[MOST_DIMS];
  kw_status status = check_input(op, args, &args[0]);
  if (status == KW_OK) status = read_numbers(op, args, &args[1], 0, sizes);
  if (status != KW_OK) return status;
  kw_infer_take_shape(self, out);
  memcpy(out->sizes + self->rank - dims, sizes, dims * sizeof *sizes);
  for (uint32_t r = 1; r < op->schema.result_count; ++r) out[r] = out[0];
  return check_products(op, 1, self, out->sizes);
}

/* A tensor of the shape that `what` names. */
static kw_status check_shape(const kw_op *op, const kw_value *args, const kw_value *arg, const kw_infer_dims *wanted,
                             const char *what) {
  const kw_tensor_ref *tensor = arg->u.tensor;
  if (tensor->rank == wanted->rank && memcmp(tensor->shape, wanted->sizes, wanted->rank * sizeof(int64_t)) == 0) {
    return KW_OK;
  }
  char expected[KW_SHAPE_TEXT], got[KW_SHAPE_TEXT];
  return kw_op_fail(op, kw_infer_arg_index(args, arg), "expected shape %s, that of %s, got %s",
                    kw_shape_text(wanted->rank, wanted->sizes, expected), what,
                    kw_shape_text(tensor->rank, tensor->shape, got));
}

kw_status kw_infer_pool_backward(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand) {
  (void)out_expand;
  const kw_value *input = kw_infer_find_arg(op, args, "self"), *indices = kw_infer_find_arg(op, args, "indices");
  const kw_tensor_ref *grad = args[0].u.tensor, *self = input->u.tensor;
  const uint32_t dims = pooled_dims(op);
  kw_infer_dims pooled;
  kw_infer_take_shape(self, out);
  kw_infer_take_shape(self, &pooled);
  kw_status status = check_input(op, args, input);
  if (status == KW_OK && kw_infer_find_arg(op, args, "kernel_size")) {
    status = pooled_shape(op, args, input, &pooled);
  } else if (status == KW_OK && grad->rank == self->rank) { /* any number of adaptive windows */
    memcpy(pooled.sizes + self->rank - dims, grad->shape + self->rank - dims, dims * sizeof(int64_t));
    status = check_products(op, 0, self, pooled.sizes);
  }
  if (status == KW_OK) status = check_shape(op, args, &args[0], &pooled, "the pool's result");
  if (status == KW_OK && indices) status = check_shape(op, args, indices, &pooled, "'grad_output'");
  if (status == KW_OK && indices) {
    status = kw_infer_check_indices(op, kw_infer_arg_index(args, indices), indices->u.tensor, 1);
  }
  return status;
}
