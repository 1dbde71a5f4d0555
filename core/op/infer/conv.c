/* SPDX-License-Identifier: Apache-2.0
 *
 * Convolution, its gradients, im2col and col2im: shapes, and what they demand of their arguments.
 */
#include "op/infer/shape_rules.h"

#include <inttypes.h>
#include <string.h>

#define SPATIAL 3 /* most dimensions that a window moves along */

/* How a window moves along each spatial dimension. */
typedef struct window {
  uint32_t dims;
  int64_t kernel[SPATIAL], stride[SPATIAL], padding[SPATIAL], dilation[SPATIAL], output_padding[SPATIAL];
} window;

static uint32_t arg_index(const kw_op *op, const kw_value *args, const char *name) {
  return kw_infer_arg_index(args, kw_infer_find_arg(op, args, name));
}

/* A list with one number for each spatial dimension, or one for all. */
static kw_status read_list(const kw_op *op, const kw_value *args, const char *name, uint32_t dims, int64_t lowest,
                           int64_t *out) {
  const kw_value *list = kw_infer_find_arg(op, args, name);
  const uint32_t index = kw_infer_arg_index(args, list);
  if (list->count != 1 && list->count != dims) {
    return kw_op_fail(op, index, "expected %u numbers, one for each spatial dimension, or one for all; got %u", dims,
                      list->count);
  }
  for (uint32_t d = 0; d < dims; ++d) {
    out[d] = list->u.ints[list->count == 1 ? 0 : d];
    if (out[d] < lowest) {
      return kw_op_fail(op, index, "%" PRId64 " is too small: the least is %" PRId64, out[d], lowest);
    }
  }
  return KW_OK;
}

static kw_status read_movement(const kw_op *op, const kw_value *args, window *w) {
  kw_status status = read_list(op, args, "stride", w->dims, 1, w->stride);
  if (status == KW_OK) status = read_list(op, args, "padding", w->dims, 0, w->padding);
  if (status == KW_OK) status = read_list(op, args, "dilation", w->dims, 1, w->dilation);
  return status;
}

static kw_status fail_overflow(const kw_op *op, const kw_value *args) {
  return kw_op_fail(op, arg_index(op, args, "padding"),
                    "with this padding, stride and dilation the positions do not fit in 64 bits");
}

/* How far apart the first and the last element under the window are. False where that is no int64. */
static bool reach(const window *w, uint32_t d, int64_t *out) {
  return !__builtin_mul_overflow(w->dilation[d], w->kernel[d] - 1, out);
}

/* How many places the window has along a dimension of `size` elements. */
static kw_status count_places(const kw_op *op, const kw_value *args, const window *w, uint32_t d, int64_t size,
                              int64_t *out) {
  int64_t last, padded;
  if (!reach(w, d, &last) || __builtin_mul_overflow(w->padding[d], 2, &padded) ||
      __builtin_add_overflow(padded, size, &padded)) {
    return fail_overflow(op, args);
  }
  if (last >= padded) {
    return kw_op_fail(op, arg_index(op, args, "padding"),
                      "along spatial dimension %u the kernel of %" PRId64
                      ", with its dilation, is longer than the "
                      "padded input, which has %" PRId64,
                      d, w->kernel[d], padded);
  }
  *out = (padded - last - 1) / w->stride[d] + 1;
  return KW_OK;
}

/* The size of what has `places` places for the window, as a transposed convolution makes it. */
static kw_status spread_places(const kw_op *op, const kw_value *args, const window *w, uint32_t d, int64_t places,
                               int64_t *out) {
  int64_t last, padded, size;
  if (!reach(w, d, &last) || __builtin_mul_overflow(places - 1, w->stride[d], &size) ||
      __builtin_add_overflow(size, last, &size) || __builtin_add_overflow(size, w->output_padding[d], &size) ||
      __builtin_add_overflow(size, 1, &size) || __builtin_mul_overflow(w->padding[d], 2, &padded)) {
    return fail_overflow(op, args);
  }
  if (size <= padded) {
    return kw_op_fail(op, arg_index(op, args, "padding"),
                      "along spatial dimension %u it takes away all of the result's %" PRId64, d, size);
  }
  *out = size - padded;
  return KW_OK;
}

/* ---- Convolution ------------------------------------------------------------------------------------------------- */

/* The kernel's sizes from the weight, the rest from the lists. */
static kw_status read_window(const kw_op *op, const kw_value *args, uint32_t weight_index, bool transposed, window *w) {
  const kw_tensor_ref *weight = args[weight_index].u.tensor;
  if (weight->rank < 3 || weight->rank > 2 + SPATIAL) {
    return kw_infer_fail_shape(op, args, weight_index, "two dimensions for channels and 1 to 3 for the kernel");
  }
  w->dims = weight->rank - 2;
  kw_status status = read_movement(op, args, w);
  if (status == KW_OK) status = read_list(op, args, "output_padding", w->dims, 0, w->output_padding);
  for (uint32_t d = 0; d < w->dims && status == KW_OK; ++d) {
    w->kernel[d] = weight->shape[2 + d];
    if (w->kernel[d] < 1) return kw_infer_fail_shape(op, args, weight_index, "a kernel with elements");
    const int64_t longest = w->stride[d] > w->dilation[d] ? w->stride[d] : w->dilation[d];
    if (transposed && w->output_padding[d] >= longest) {
      return kw_op_fail(op, arg_index(op, args, "output_padding"),
                        "%" PRId64 " is too large: it has to be less than stride or dilation", w->output_padding[d]);
    }
  }
  return status;
}

/* The shape of what a convolution of `input` (argument `first`) with `weight` (the next) gives. */
static kw_status convolve(const kw_op *op, const kw_value *args, uint32_t first, kw_infer_dims *out) {
  const kw_tensor_ref *input = args[first].u.tensor, *weight = args[first + 1].u.tensor;
  const bool transposed = kw_infer_find_arg(op, args, "transposed")->u.b;
  const uint32_t groups_index = arg_index(op, args, "groups");
  const int64_t groups = args[groups_index].u.i;
  window w;
  if (groups < 1) return kw_op_fail(op, groups_index, "%" PRId64 " is too small: the least is 1", groups);
  kw_status status = read_window(op, args, first + 1, transposed, &w);
  if (status != KW_OK) return status;
  if (input->rank != weight->rank) {
    return kw_infer_fail_shape(op, args, first,
                               "as many dimensions as 'weight': batch, channels, then the spatial ones");
  }
  if (weight->shape[0] % groups != 0) {
    return kw_op_fail(op, groups_index, "%" PRId64 " does not divide the %" PRId64 " channels of 'weight'", groups,
                      weight->shape[0]);
  }
  int64_t spread; /* the channels on the side that the weight has per group */
  if (__builtin_mul_overflow(weight->shape[1], groups, &spread)) return fail_overflow(op, args);
  const int64_t channels = transposed ? weight->shape[0] : spread;
  if (input->shape[1] != channels) {
    return kw_op_fail(op, first, "expected %" PRId64 " channels, as 'weight' and 'groups' say, got %" PRId64, channels,
                      input->shape[1]);
  }
  *out = (kw_infer_dims){input->rank, {input->shape[0], transposed ? spread : weight->shape[0]}};
  for (uint32_t d = 0; d < w.dims && status == KW_OK; ++d) {
    const int64_t size = input->shape[2 + d];
    if (size < 1) return kw_infer_fail_shape(op, args, first, "at least one element along each spatial dimension");
    status = transposed ? spread_places(op, args, &w, d, size, &out->sizes[2 + d])
                        : count_places(op, args, &w, d, size, &out->sizes[2 + d]);
  }
  return status;
}

kw_status kw_infer_convolution(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand) {
  (void)out_expand;
  kw_status status = convolve(op, args, 0, out);
  if (status != KW_OK || args[2].tag == KW_TAG_NONE) return status;
  const kw_tensor_ref *bias = args[2].u.tensor;
  if (bias->rank == 1 && bias->shape[0] == out->sizes[1]) return KW_OK;
  return kw_infer_fail_shape(op, args, 2, "one number for each channel of the result");
}

static kw_infer_dims dims_of(const kw_tensor_ref *tensor) {
  kw_infer_dims dims = {tensor->rank, {0}};
  memcpy(dims.sizes, tensor->shape, tensor->rank * sizeof(int64_t));
  return dims;
}

kw_status kw_infer_convolution_backward(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand) {
  (void)out_expand;
  const kw_tensor_ref *grad = args[0].u.tensor;
  kw_infer_dims forward;
  kw_status status = convolve(op, args, 1, &forward);
  if (status != KW_OK) return status;
  if (grad->rank != forward.rank || memcmp(grad->shape, forward.sizes, grad->rank * sizeof(int64_t)) != 0) {
    char text[KW_SHAPE_TEXT];
    return kw_infer_fail_shape(op, args, 0, kw_shape_text(forward.rank, forward.sizes, text));
  }
  const kw_value *bias = &args[3];
  if (args[op->schema.output_mask].u.ints[2] && bias->tag == KW_TAG_INT_LIST &&
      (bias->count != 1 || bias->u.ints[0] != forward.sizes[1])) {
    return kw_op_fail(op, 3, "expected [%" PRId64 "], one number for each channel of the result, or none",
                      forward.sizes[1]);
  }
  out[0] = dims_of(args[1].u.tensor);
  out[1] = dims_of(args[2].u.tensor);
  out[2] = (kw_infer_dims){1, {forward.sizes[1]}};
  return KW_OK;
}

/* ---- Columns ----------------------------------------------------------------------------------------------------- */

/* The window of im2col and col2im, and how many elements lie under it. */
static kw_status read_block(const kw_op *op, const kw_value *args, window *w, int64_t *out_count) {
  w->dims = 2;
  kw_status status = read_list(op, args, "kernel_size", w->dims, 1, w->kernel);
  if (status == KW_OK) status = read_movement(op, args, w);
  if (status != KW_OK) return status;
  if (!__builtin_mul_overflow(w->kernel[0], w->kernel[1], out_count)) return KW_OK;
  return kw_op_fail(op, arg_index(op, args, "kernel_size"), "there would be more than 2^63 - 1 elements under it");
}

/* How many places the window has in an image of these sizes. */
static kw_status count_columns(const kw_op *op, const kw_value *args, const window *w, const int64_t *sizes,
                               int64_t *out) {
  int64_t places[2] = {0};
  kw_status status = count_places(op, args, w, 0, sizes[0], &places[0]);
  if (status == KW_OK) status = count_places(op, args, w, 1, sizes[1], &places[1]);
  if (status != KW_OK) return status;
  return __builtin_mul_overflow(places[0], places[1], out) ? fail_overflow(op, args) : KW_OK;
}

kw_status kw_infer_im2col(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand) {
  (void)out_expand;
  const kw_tensor_ref *self = args[0].u.tensor;
  window w;
  int64_t count = 0;
  kw_status status = read_block(op, args, &w, &count);
  if (status != KW_OK) return status;
  const uint32_t channel = self->rank == 4;
  if ((self->rank != 3 && self->rank != 4) || self->shape[channel + 1] < 1 || self->shape[channel + 2] < 1) {
    return kw_infer_fail_shape(op, args, 0,
                               "[channels, height, width] with elements, with a batch before it or without");
  }
  *out = (kw_infer_dims){self->rank - 1u, {self->shape[0]}};
  if (__builtin_mul_overflow(self->shape[channel], count, &out->sizes[channel])) return fail_overflow(op, args);
  return count_columns(op, args, &w, self->shape + channel + 1, &out->sizes[channel + 1]);
}

kw_status kw_infer_col2im(const kw_op *op, const kw_value *args, kw_infer_dims *out, bool *out_expand) {
  (void)out_expand;
  const kw_tensor_ref *self = args[0].u.tensor;
  window w;
  int64_t count = 0, sizes[2] = {0}, columns = 0, pixels;
  kw_status status = read_block(op, args, &w, &count);
  if (status == KW_OK) status = read_list(op, args, "output_size", 2, 1, sizes);
  if (status == KW_OK && __builtin_mul_overflow(sizes[0], sizes[1], &pixels)) {
    return kw_op_fail(op, 1, "there would be more than 2^63 - 1 elements");
  }
  if (status == KW_OK) status = count_columns(op, args, &w, sizes, &columns);
  if (status != KW_OK) return status;
  if (self->rank != 2 && self->rank != 3) {
    return kw_infer_fail_shape(op, args, 0, "[channels * kernel, columns], with a batch before it or without");
  }
  const uint32_t channel = self->rank == 3;
  if (self->shape[channel] % count != 0 || self->shape[channel + 1] != columns) {
    char got[KW_SHAPE_TEXT];
    return kw_op_fail(op, 0,
                      "expected a multiple of %" PRId64 " rows, the elements under the kernel, and %" PRId64
                      " columns, its places in the output; got %s",
                      count, columns, kw_shape_text(self->rank, self->shape, got));
  }
  *out = (kw_infer_dims){self->rank + 1u, {self->shape[0]}};
  out->sizes[channel] = self->shape[channel] / count;
  memcpy(out->sizes + channel + 1, sizes, sizeof sizes);
  return KW_OK;
}
