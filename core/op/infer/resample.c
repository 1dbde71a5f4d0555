/* SPDX-License-Identifier: Apache-2.0
 *
 * Upsampling, grid_sampler_2d and their gradients: shapes, and what they demand of their arguments.
 */
#include "op/infer/shape_rules.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* As many spatial dimensions as "output_size" has places for. */
static uint32_t spatial_dims(const kw_op *op, const kw_value *args) {
  const uint32_t index = kw_infer_arg_index(args, kw_infer_find_arg(op, args, "output_size"));
  return (uint32_t)op->schema.args[index].list_size;
}

/* Sizes, one for each of `count` dimensions or one for all. */
static kw_status read_sizes(const kw_op *op, const kw_value *args, const char *name, uint32_t count, int64_t *out) {
  const kw_value *list = kw_infer_find_arg(op, args, name);
  const uint32_t index = kw_infer_arg_index(args, list);
  if (list->count != 1 && list->count != count) {
    return kw_op_fail(op, index, "expected %u sizes, or one for all, got %u", count, list->count);
  }
  for (uint32_t d = 0; d < count; ++d) out[d] = list->u.ints[list->count == 1 ? 0 : d];
  return KW_OK;
}

static kw_status check_spatial(const kw_op *op, uint32_t index, const int64_t *sizes, uint32_t dims) {
  for (uint32_t d = 0; d < dims; ++d) {
    if (sizes[d] >= 1) continue;
    return kw_op_fail(op, index, "spatial size %" PRId64 " is too small: the least is 1", sizes[d]);
  }
  return KW_OK;
}

static kw_status check_bytes(const kw_op *op, uint32_t index, const int64_t *sizes, uint32_t count) {
  int64_t bytes = 16; /* of the largest element */
  for (uint32_t d = 0; d < count; ++d) {
    if (!__builtin_mul_overflow(bytes, sizes[d], &bytes)) continue;
    return kw_op_fail(op, index, "the tensor would have more than 2^63 - 1 bytes");
  }
  return KW_OK;
}

/* A scale is the caller's word for output over input. */
static kw_status check_scales(const kw_op *op, const kw_value *args) {
  for (uint32_t i = 0; i < op->schema.arg_count; ++i) {
    if (strncmp(op->schema.args[i].name, "scales", 6) != 0 || args[i].tag == KW_TAG_NONE) continue;
    if (isfinite(args[i].u.f) && args[i].u.f > 0) continue;
    return kw_op_fail(op, i, "%g is no scale: expected a finite number greater than 0, or none", args[i].u.f);
  }
  return KW_OK;
}

/* [n, c, output_size] from the sizes of n and c. */
static kw_status upsampled(const kw_op *op, const kw_value *args, const int64_t *outer, kw_infer_dims *out) {
  const uint32_t dims = spatial_dims(op, args);
  *out = (kw_infer_dims){2 + dims, {outer[0], outer[1]}};
  kw_status status = read_sizes(op, args, "output_size", dims, out->sizes + 2);
  if (status == KW_OK) status = check_spatial(op, 1, out->sizes + 2, dims);
  if (status == KW_OK) status = check_bytes(op, 1, out->sizes + 2, dims);
  return status == KW_OK ? check_scales(op, args) : status;
}

kw_status kw_infer_upsample(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand) {
  (void)out_expand;
  const kw_tensor_ref *self = args[0].u.tensor;
  const uint32_t dims = spatial_dims(op, args);
  if (self->rank != 2 + dims) {
    return kw_infer_fail_shape(op, args, 0, dims == 1 ? "[n, c, w]" : dims == 2 ? "[n, c, h, w]" : "[n, c, d, h, w]");
  }
  kw_status status = check_spatial(op, 0, self->shape + 2, dims);
  return status == KW_OK ? upsampled(op, args, self->shape, out) : status;
}

kw_status kw_infer_upsample_backward(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand) {
  (void)out_expand;
  const kw_tensor_ref *grad = args[0].u.tensor;
  const uint32_t dims = spatial_dims(op, args);
  kw_infer_dims large;
  out->rank = 2 + dims;
  kw_status status = read_sizes(op, args, "input_size", out->rank, out->sizes);
  if (status != KW_OK) return status;
  for (uint32_t d = 0; d < 2; ++d) {
    if (out->sizes[d] < 0) return kw_op_fail(op, 2, "size %" PRId64 " is negative", out->sizes[d]);
  }
  status = check_spatial(op, 2, out->sizes + 2, dims);
  if (status == KW_OK) status = check_bytes(op, 2, out->sizes, out->rank);
  if (status == KW_OK) status = upsampled(op, args, out->sizes, &large);
  if (status != KW_OK) return status;
  if (grad->rank == large.rank && memcmp(grad->shape, large.sizes, large.rank * sizeof(int64_t)) == 0) return KW_OK;
  char text[KW_SHAPE_TEXT];
  return kw_infer_fail_shape(op, args, 0, kw_shape_text(large.rank, large.sizes, text));
}

/* ---- grid_sampler_2d --------------------------------------------------------------------------------------------- */

/* 0, 1 or 2. */
static kw_status check_choice(const kw_op *op, const kw_value *args, const char *name, const char *meaning) {
  const kw_value *choice = kw_infer_find_arg(op, args, name);
  if (choice->u.i >= 0 && choice->u.i <= 2) return KW_OK;
  return kw_op_fail(op, kw_infer_arg_index(args, choice), "%" PRId64 " is not known; it is %s", choice->u.i, meaning);
}

/* The shape of what is sampled from the input, argument `first`, by the grid, which is the next. */
static kw_status sampled(const kw_op *op, const kw_value *args, uint32_t first, kw_infer_dims *out) {
  const kw_tensor_ref *input = args[first].u.tensor, *grid = args[first + 1].u.tensor;
  if (input->rank != 4) return kw_infer_fail_shape(op, args, first, "[n, c, h, w]");
  kw_status status = check_spatial(op, first, input->shape + 2, 2);
  if (status != KW_OK) return status;
  if (grid->rank != 4 || grid->shape[3] != 2 || grid->shape[0] != input->shape[0]) {
    return kw_infer_fail_shape(op, args, first + 1, "[n, h, w, 2] with the input's n");
  }
  status = check_choice(op, args, "interpolation_mode", "0 (bilinear), 1 (nearest) or 2 (bicubic)");
  if (status == KW_OK) status = check_choice(op, args, "padding_mode", "0 (zeros), 1 (border) or 2 (reflection)");
  *out = (kw_infer_dims){4, {input->shape[0], input->shape[1], grid->shape[1], grid->shape[2]}};
  return status;
}

kw_status kw_infer_grid_sampler(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand) {
  (void)out_expand;
  return sampled(op, args, 0, out);
}

kw_status kw_infer_grid_sampler_backward(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand) {
  (void)out_expand;
  const kw_tensor_ref *grad = args[0].u.tensor;
  kw_infer_dims forward;
  kw_status status = sampled(op, args, 1, &forward);
  if (status != KW_OK) return status;
  if (grad->rank != 4 || memcmp(grad->shape, forward.sizes, 4 * sizeof(int64_t)) != 0) {
    char text[KW_SHAPE_TEXT];
    return kw_infer_fail_shape(op, args, 0, kw_shape_text(4, forward.sizes, text));
  }
  for (uint32_t i = 0; i < 2; ++i) {
    out[i].rank = 4;
    memcpy(out[i].sizes, args[1 + i].u.tensor->shape, 4 * sizeof(int64_t));
  }
  return KW_OK;
}
