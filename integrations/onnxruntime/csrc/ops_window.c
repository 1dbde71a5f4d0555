/* SPDX-License-Identifier: Apache-2.0
 *
 * Convolutions and pools.
 */
#include <math.h>
#include <string.h>

#include "ops.h"
#include "window.h"

static const int64_t zeros[WINDOW_MAX] = {0}, ones[WINDOW_MAX] = {1, 1, 1, 1, 1, 1, 1, 1};

static kw_value list(const int64_t *of, const window *w) {
  return kw_arg_int_list(of, w->dims);
}

/* ---- Convolutions ------------------------------------------------------------------------------------------------ */

/* To an output, or, with -1, returned. */
value *run_convolution(run *run, const value *x, const value *weight, const value *bias, int output) {
  window w;
  kw_value args[9];
  if (!weight || !window_read(run, x, weight->ref.shape + 2, &w)) return NULL;
  const bool symmetric = window_symmetric(&w);
  if (!symmetric) x = window_pad(run, x, &w, kw_arg_scalar_i64(0), false);
  args[0] = arg(x), args[1] = arg(weight), args[2] = arg(bias);
  args[3] = list(w.stride, &w);
  args[4] = list(symmetric ? w.before : zeros, &w);
  args[5] = list(w.dilation, &w);
  args[6] = kw_arg_bool(false);
  args[7] = list(zeros, &w);
  args[8] = kw_arg_int(node_int(run->node, "group", 1));
  if (output < 0) return run_call(run, "convolution", args, 9);
  run_call_to(run, (unsigned)output, "convolution", args, 9);
  return NULL;
}

bool op_conv(run *run) {
  const value *x = run_input(run, 0), *weight = run_input(run, 1);
  if (!x || !weight) return run_refuse(run, "an input is missing");
  run_convolution(run, x, weight, run_input(run, 2), 0);
  return !run->failed;
}

/* The pads that a transposed convolution cuts off, and its sizes: by output_shape, or by auto_pad. */
static bool read_transposed(run *run, const value *x, const value *weight, window *w, int64_t *more) {
  const char *same = node_text(run->node, "auto_pad", "NOTSET");
  unsigned count = 0, mores = 0;
  const int64_t *shape = node_ints(run->node, "output_shape", &count);
  const int64_t *output_padding = node_ints(run->node, "output_padding", &mores);
  if (!window_read(run, x, weight->ref.shape + 2, w)) return false;
  if (shape && count < w->dims) return run_refuse(run, "an output_shape of %u sizes", count);
  for (unsigned d = 0; d < w->dims; ++d) {
    const int64_t full = (w->size[d] - 1) * w->stride[d] + (w->kernel[d] - 1) * w->dilation[d] + 1;
    more[d] = d < mores ? output_padding[d] : 0;
    w->out[d] = full + more[d] - w->before[d] - w->after[d];
    if (shape || strncmp(same, "SAME", 4) == 0) {
      w->out[d] = shape ? shape[count - w->dims + d] : w->size[d] * w->stride[d];
      const int64_t total = full + more[d] - w->out[d] > 0 ? full + more[d] - w->out[d] : 0;
      if (full + more[d] < w->out[d]) more[d] = w->out[d] - full;
      w->before[d] = strcmp(same, "SAME_UPPER") == 0 ? total / 2 : total - total / 2;
    }
  }
  return true;
}

/* The whole of it, of which the pads are cut off; the bias last, since output_padding adds elements that have only it.
 */
bool op_conv_transpose(run *run) {
  const value *x = run_input(run, 0), *weight = run_input(run, 1), *bias = run_input(run, 2);
  int64_t more[WINDOW_MAX], shape[WINDOW_MAX], pairs[2 * WINDOW_MAX];
  bool padded = false;
  window w;
  if (!x || !weight || !read_transposed(run, x, weight, &w, more)) return false;
  x = CALL(run, "convolution", arg(x), arg(weight), kw_arg_none(), list(w.stride, &w), list(zeros, &w),
           list(w.dilation, &w), kw_arg_bool(true), list(zeros, &w), kw_arg_int(node_int(run->node, "group", 1)));
  for (unsigned d = 0; d < w.dims; ++d) {
    pairs[2 * (w.dims - 1 - d)] = 0;
    pairs[2 * (w.dims - 1 - d) + 1] = more[d];
    padded = padded || more[d] > 0;
  }
  if (padded) x = CALL(run, "constant_pad_nd", arg(x), kw_arg_int_list(pairs, 2 * w.dims), kw_arg_scalar_i64(0));
  for (unsigned d = 0; x && d < w.dims; ++d) x = run_slice(run, x, d + 2, w.before[d], w.out[d], 1);
  if (!x || !bias) return x && run_put(run, 0, x);
  for (unsigned d = 0; d < x->ref.rank; ++d) shape[d] = d == 1 ? bias->ref.shape[0] : 1;
  return CALL_TO(run, 0, "add.Tensor", arg(x), arg(run_reshape(run, bias, x->ref.rank, shape)));
}

/* ---- Pools ------------------------------------------------------------------------------------------------------- */

static const char *pool_op(run *run, const char *const *names, unsigned dims) {
  if (dims >= 1 && dims <= 3) return names[dims - 1];
  return run_refuse(run, "%u dimensions of space", dims), NULL;
}

/* The number below all others of a dtype. */
static kw_value lowest(kw_dtype dtype) {
  if (dtype == KW_U8) return kw_arg_scalar_i64(0);
  if (dtype == KW_I8) return kw_arg_scalar_i64(-128);
  return dtype == KW_I32 ? kw_arg_scalar_i64(INT32_MIN) : kw_arg_scalar_f64((double)-INFINITY);
}

/* Keyway's places count inside a plane, ONNX's in the whole; column by column with storage_order 1. */
static bool put_places(run *run, const value *x, const window *w, const value *places) {
  int64_t plane = 1, shape[KW_MAX_RANK];
  const value *planes;
  if (!places || !run_wants(run, 1)) return !run->failed;
  for (unsigned d = 0; d < x->ref.rank; ++d) {
    shape[d] = d < 2 ? x->ref.shape[d] : 1;
    if (d >= 2) plane *= x->ref.shape[d];
  }
  if (node_int(run->node, "storage_order", 0) && w->dims == 2) {
    const int64_t width = w->size[1];
    const value *row = CALL(run, "div.Scalar_mode", arg(places), kw_arg_scalar_i64(width), kw_arg_string("trunc"));
    const value *column = CALL(run, "remainder.Scalar", arg(places), kw_arg_scalar_i64(width));
    places =
        CALL(run, "add.Tensor", arg(CALL(run, "mul.Scalar", arg(column), kw_arg_scalar_i64(w->size[0]))), arg(row));
  }
  planes = CALL(run, "mul.Scalar", arg(run_range(run, shape[0] * shape[1])), kw_arg_scalar_i64(plane));
  return CALL_TO(run, 1, "add.Tensor", arg(places), arg(run_reshape(run, planes, x->ref.rank, shape)));
}

bool op_max_pool(run *run) {
  static const char *const names[] = {"max_pool1d_with_indices", "max_pool2d_with_indices", "max_pool3d_with_indices"};
  const value *x = run_input(run, 0), *padded = x;
  const int to[RUN_MAX_RESULTS] = {0, -1, -1, -1};
  value *results[RUN_MAX_RESULTS] = {NULL};
  window w;
  if (!window_read(run, x, NULL, &w)) return false;
  if (window_none(run, x, &w)) return !run->failed;
  if (run_wants(run, 1) && run_asks(run) && run->guessed && window_pads_by_size(run))
    return run_refuse(run, "places, and pads that follow from sizes that are guessed");
  bool direct = window_symmetric(&w);
  for (unsigned d = 0; d < w.dims; ++d) direct = direct && w.before[d] <= w.kernel[d] / 2;
  if (!direct && run_wants(run, 1)) return run_refuse(run, "places, and pads that are not the same before and after");
  if (!direct) padded = window_pad(run, x, &w, lowest(x->ref.dtype), true);
  const char *op = pool_op(run, names, w.dims);
  if (!op || !run_op(run, op,
                     (kw_value[]){arg(padded), list(w.kernel, &w), list(w.stride, &w),
                                  list(direct ? w.before : zeros, &w), list(w.dilation, &w), kw_arg_bool(false)},
                     6, results, to))
    return false;
  return put_places(run, x, &w, results[1]);
}

/* Sums of windows of x [N, C, ...], which is padded already: a convolution of each plane with ones. */
static value *sum_windows(run *run, const value *x, const window *w) {
  int64_t planes[WINDOW_MAX] = {1, 1}, kernel[WINDOW_MAX] = {1, 1}, whole[WINDOW_MAX];
  const value *weight, *summed;
  if (!x) return NULL;
  planes[0] = x->ref.shape[0] * x->ref.shape[1];
  memcpy(planes + 2, x->ref.shape + 2, w->dims * sizeof *planes);
  memcpy(kernel + 2, w->kernel, w->dims * sizeof *kernel);
  weight = CALL(run, "full", kw_arg_int_list(kernel, w->dims + 2), kw_arg_scalar_f64(1), kw_arg_dtype(x->ref.dtype));
  summed =
      CALL(run, "convolution", arg(run_reshape(run, x, w->dims + 2, planes)), arg(weight), kw_arg_none(),
           list(w->stride, w), list(zeros, w), list(w->dilation, w), kw_arg_bool(false), list(zeros, w), kw_arg_int(1));
  if (!summed) return NULL;
  memcpy(whole, summed->ref.shape, sizeof whole);
  whole[0] = x->ref.shape[0];
  whole[1] = x->ref.shape[1];
  return run_reshape(run, summed, w->dims + 2, whole);
}

bool op_average_pool(run *run) {
  static const char *const names[] = {"avg_pool1d", "avg_pool2d", "avg_pool3d"};
  const value *x = run_input(run, 0), *counts, *sums;
  const bool padding_counts = node_int(run->node, "count_include_pad", 0);
  int64_t shape[WINDOW_MAX] = {1, 1};
  bool simple;
  window w, inner;
  if (!window_read(run, x, NULL, &w)) return false;
  if (window_none(run, x, &w)) return !run->failed;
  simple = window_symmetric(&w) && memcmp(w.dilation, ones, w.dims * sizeof *ones) == 0;
  for (unsigned d = 0; d < w.dims; ++d)
    simple = simple && (padding_counts || w.before[d] == 0) && w.before[d] <= w.kernel[d] / 2;
  if (simple) {
    const char *op = pool_op(run, names, w.dims);
    return op && CALL_TO(run, 0, op, arg(x), list(w.kernel, &w), list(w.stride, &w), list(w.before, &w),
                         kw_arg_bool(false), kw_arg_bool(true));
  }
  memcpy(shape + 2, w.size, w.dims * sizeof *shape);
  counts = CALL(run, "full", kw_arg_int_list(shape, w.dims + 2), kw_arg_scalar_f64(1), kw_arg_dtype(x->ref.dtype));
  counts = window_pad(run, counts, &w, kw_arg_scalar_f64(padding_counts), false);
  inner = w;
  memset(inner.before, 0, sizeof inner.before);
  memset(inner.after, 0, sizeof inner.after);
  counts = window_pad(run, counts, &inner, kw_arg_scalar_f64(0), true);
  sums = sum_windows(run, window_pad(run, x, &w, kw_arg_scalar_f64(0), true), &w);
  return CALL_TO(run, 0, "div.Tensor", arg(sums), arg(sum_windows(run, counts, &w)));
}

/* |x|^p, and the p-th root of a sum of it. */
static value *to_power(run *run, const value *x, int64_t p) {
  if (p == 1) return CALL(run, "abs", arg(x));
  if (p == 2) return CALL(run, "mul.Tensor", arg(x), arg(x));
  return CALL(run, "pow.Tensor_Scalar", arg(CALL(run, "abs", arg(x))), kw_arg_scalar_i64(p));
}

static bool put_root(run *run, const value *sum, int64_t p) {
  if (p == 1) return sum && run_put(run, 0, sum);
  if (p == 2) return CALL_TO(run, 0, "sqrt", arg(sum));
  return CALL_TO(run, 0, "pow.Tensor_Scalar", arg(sum), kw_arg_scalar_f64(1.0 / (double)p));
}

bool op_lp_pool(run *run) {
  const value *x = run_input(run, 0);
  const int64_t p = node_int(run->node, "p", 2);
  window w;
  if (!window_read(run, x, NULL, &w)) return false;
  if (window_none(run, x, &w)) return !run->failed;
  x = window_pad(run, to_power(run, x, p), &w, kw_arg_scalar_f64(0), true);
  return put_root(run, sum_windows(run, x, &w), p);
}

/* ---- Pools over all of space ------------------------------------------------------------------------------------- */

static bool over_space(run *run, const char *op, const value *x, value **out_result) {
  int64_t dims[KW_MAX_RANK];
  unsigned count = 0;
  if (!x || run->failed) return false;
  for (unsigned d = 2; d < x->ref.rank; ++d) dims[count++] = d;
  if (!out_result) return CALL_TO(run, 0, op, arg(x), kw_arg_int_list(dims, count), kw_arg_bool(true));
  *out_result = CALL(run, op, arg(x), kw_arg_int_list(dims, count), kw_arg_bool(true));
  return *out_result != NULL;
}

bool op_global_average_pool(run *run) {
  return over_space(run, "mean.dim", run_input(run, 0), NULL);
}

bool op_global_max_pool(run *run) {
  return over_space(run, "amax", run_input(run, 0), NULL);
}

bool op_global_lp_pool(run *run) {
  const int64_t p = node_int(run->node, "p", 2);
  value *sum = NULL;
  return over_space(run, "sum.dim_IntList", to_power(run, run_input(run, 0), p), &sum) && put_root(run, sum, p);
}

/* x / (bias + alpha / size * (sum of squares of the channels around))^beta. */
bool op_lrn(run *run) {
  const value *x = run_input(run, 0), *squares;
  const int64_t size = node_int(run->node, "size", 1);
  window w = {.dims = 2,
              .kernel = {size, 1},
              .stride = {1, 1},
              .dilation = {1, 1},
              .before = {(size - 1) / 2},
              .after = {size - 1 - (size - 1) / 2}};
  if (!x || x->ref.rank < 2) return run_refuse(run, "it has no channels");
  const int64_t rest = run_numel_from(x, 2);
  int64_t shape[4];
  shape[0] = x->ref.shape[0], shape[1] = 1, shape[2] = x->ref.shape[1], shape[3] = rest;
  squares = run_reshape(run, CALL(run, "mul.Tensor", arg(x), arg(x)), 4, shape);
  squares = sum_windows(run, window_pad(run, squares, &w, kw_arg_scalar_f64(0), false), &w);
  squares =
      CALL(run, "mul.Scalar", arg(squares), kw_arg_scalar_f64(node_float(run->node, "alpha", 1e-4) / (double)size));
  squares = CALL(run, "add.Scalar", arg(squares), kw_arg_scalar_f64(node_float(run->node, "bias", 1)));
  squares = CALL(run, "pow.Tensor_Scalar", arg(squares), kw_arg_scalar_f64(node_float(run->node, "beta", 0.75)));
  return CALL_TO(run, 0, "div.Tensor", arg(x), arg(run_reshape(run, squares, x->ref.rank, x->ref.shape)));
}

/* Each element where a pool took it from, in an image of as many windows. */
bool op_max_unpool(run *run) {
  const value *x = run_input(run, 0), *places = run_input(run, 1), *whole;
  int64_t shape[WINDOW_MAX], all = 1, count;
  window w;
  if (!x || !places || !window_read(run, x, NULL, &w)) return false;
  if (run_input(run, 2)) return run_refuse(run, "output_shape");
  memcpy(shape, x->ref.shape, 2 * sizeof *shape);
  for (unsigned d = 0; d < w.dims; ++d)
    shape[d + 2] = (w.size[d] - 1) * w.stride[d] + w.kernel[d] - w.before[d] - w.after[d];
  for (unsigned d = 0; d < x->ref.rank; ++d) all *= shape[d];
  count = run_numel(x);
  whole = CALL(run, "full", kw_arg_int_list(&all, 1), kw_arg_scalar_i64(0), kw_arg_dtype(x->ref.dtype));
  whole = CALL(run, "scatter.src", arg(whole), kw_arg_int(0), arg(run_reshape(run, places, 1, &count)),
               arg(run_reshape(run, x, 1, &count)));
  return run_put_as(run, 0, whole, x->ref.rank, shape);
}

/* ---- Columns put back into an image ------------------------------------------------------------------------------ */

typedef struct fold {
  int64_t image, block, places, before, after, stride, dilation;
} fold;

static bool read_folds(run *run, unsigned *out_dims, fold *folds) {
  unsigned pads = 0, strides = 0, dilations = 0;
  const int64_t *pad = node_ints(run->node, "pads", &pads), *stride = node_ints(run->node, "strides", &strides);
  const int64_t *dilation = node_ints(run->node, "dilations", &dilations);
  const value *sizes = run_asks(run) ? run_input(run, 1) : NULL;
  const unsigned guessed =
      sizes && sizes->ref.rank == 1 && sizes->ref.shape[0] <= KW_MAX_RANK - 2 ? (unsigned)sizes->ref.shape[0] : 2;
  int64_t large[KW_MAX_RANK], small[KW_MAX_RANK];
  ints image, block;
  for (unsigned d = 0; d < KW_MAX_RANK; ++d) large[d] = 64, small[d] = 1;
  run_ints_or(run, 1, &image, large, guessed);
  run_ints_or(run, 2, &block, small, image.count < KW_MAX_RANK ? image.count : KW_MAX_RANK);
  if (run->failed) return false;
  if (image.count == 0 || image.count > KW_MAX_RANK - 2 || block.count != image.count)
    return run_refuse(run, "%u dimensions of space, and blocks of %u", image.count, block.count);
  *out_dims = image.count;
  for (unsigned d = 0; d < image.count; ++d) {
    fold *f = &folds[d];
    *f = (fold){image.at[d], block.at[d], 0, 0, 0, 1, 1};
    if (d < strides) f->stride = stride[d];
    if (d < dilations) f->dilation = dilation[d];
    if (pads == 2 * image.count) f->before = pad[d], f->after = pad[d + image.count];
    if (f->stride < 1 || f->dilation < 1) return run_refuse(run, "a stride or dilation below 1");
    f->places = (f->image + f->before + f->after - f->dilation * (f->block - 1) - 1) / f->stride + 1;
  }
  return true;
}

/* Two dimensions of space of x [n, ka * kb, la * lb]: [n, a, b]. All pads are part of the image, which is then cut out.
 */
static value *fold_two(run *run, const value *x, const fold *a, const fold *b) {
  const int64_t whole[] = {a->before + a->image + a->after, b->before + b->image + b->after};
  x = CALL(run, "col2im", arg(x), kw_arg_int_list(whole, 2), kw_arg_int_list((int64_t[]){a->block, b->block}, 2),
           kw_arg_int_list((int64_t[]){a->dilation, b->dilation}, 2), kw_arg_int_list(zeros, 2),
           kw_arg_int_list((int64_t[]){a->stride, b->stride}, 2));
  if (!x) return NULL;
  x = run_slice(run, run_slice(run, x, 2, a->before, a->image, 1), 3, b->before, b->image, 1);
  return x ? run_reshape(run, x, 3, (int64_t[]){x->ref.shape[0], a->image, b->image}) : NULL;
}

/* Two dimensions at a time, from the last on: x is [planes, blocks and places of those that are left, what is done]. */
bool op_col2im(run *run) {
  static const fold none = {1, 1, 1, 0, 0, 1, 1};
  const value *x = run_input(run, 0);
  int64_t shape[KW_MAX_RANK], blocks = 1, places = 1, done = 1;
  fold folds[KW_MAX_RANK];
  unsigned dims = 0, left;
  if (!x || !read_folds(run, &dims, folds)) return false;
  if (run_asks(run) && run->guessed)
    return kw_op_support(kw_op_find("col2im"), run->device, x->ref.dtype) != KW_SUPPORT_NONE ||
           run_refuse(run, "no col2im of %s", kw_dtype_name(x->ref.dtype));
  for (unsigned d = 0; d < dims; ++d) blocks *= folds[d].block, places *= folds[d].places;
  if (x->ref.rank != 3 || blocks < 1 || x->ref.shape[1] % blocks != 0 || x->ref.shape[2] != places)
    return run_refuse(run, "columns of another shape");
  shape[0] = x->ref.shape[0], shape[1] = x->ref.shape[1] / blocks;
  for (unsigned d = 0; d < dims; ++d) shape[d + 2] = folds[d].image;
  const int64_t planes = shape[0] * shape[1];
  for (left = dims; x && left > 0; left = left > 2 ? left - 2 : 0) {
    const fold *a = left > 1 ? &folds[left - 2] : &none, *b = &folds[left - 1];
    const int64_t block = a->block * b->block, place = a->places * b->places;
    blocks /= block, places /= place;
    x = run_reshape(run, x, 6, (int64_t[]){planes, blocks, block, places, place, done});
    x = PERMUTE(run, x, 0, 1, 3, 5, 2, 4);
    x = fold_two(run, run_reshape(run, x, 3, (int64_t[]){planes * blocks * places * done, block, place}), a, b);
    x = run_reshape(run, x, 4, (int64_t[]){planes * blocks * places, done, a->image * b->image, 1});
    x = PERMUTE(run, x, 0, 2, 1, 3);
    done *= a->image * b->image;
  }
  return run_put_as(run, 0, run_contiguous(run, x), dims + 2, shape);
}
