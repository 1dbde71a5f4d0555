/* SPDX-License-Identifier: Apache-2.0
 *
 * Whole numbers that stand for floats: x = (q - zero point) * scale. What is computed on the way is in f32, whose 24
 * bits hold every q and every difference of two; sums of products are in i32.
 */
#include <string.h>

#include "ops.h"

typedef struct limits {
  double least, most;
} limits;

static bool limits_of(run *run, kw_dtype dtype, limits *out_limits) {
  switch (dtype) {
    case KW_U8:
      *out_limits = (limits){0, 255};
      return true;
    case KW_I8:
      *out_limits = (limits){-128, 127};
      return true;
    case KW_I16:
      *out_limits = (limits){-32768, 32767};
      return true;
    default:
      return run_refuse(run, "it would be quantised to %s", kw_dtype_name(dtype));
  }
}

/* A scale or zero point, one for all, for each place of an axis, or for each block along it, in x's shape. */
static value *spread(run *run, const value *of, const value *x) {
  const int64_t block = node_int(run->node, "block_size", 0);
  int64_t shape[KW_MAX_RANK], whole[KW_MAX_RANK];
  unsigned axis;
  if (!of || !x || of->ref.rank == 0 || run_numel(of) == 1) return of ? run_reshape(run, of, 0, NULL) : NULL;
  if (!run_axis(run, node_int(run->node, "axis", 1), x->ref.rank, &axis)) return NULL;
  for (unsigned d = 0; d < x->ref.rank; ++d) shape[d] = d == axis ? of->ref.shape[0] : 1;
  if (of->ref.rank == 1 && block == 0) return run_reshape(run, of, x->ref.rank, shape);
  if (block <= 0 || of->ref.rank != x->ref.rank) return run_refuse(run, "scales of rank %u", of->ref.rank), NULL;
  memcpy(shape, of->ref.shape, sizeof shape); /* [..., blocks, block, ...], then joined and cut to x */
  of = run_unsqueeze(run, of, axis + 1);
  if (!of) return NULL;
  memcpy(whole, of->ref.shape, sizeof whole);
  whole[axis + 1] = block;
  shape[axis] *= block;
  of = run_reshape(run, run_expand(run, of, x->ref.rank + 1u, whole), x->ref.rank, shape);
  return run_slice(run, of, axis, 0, x->ref.shape[axis], 1);
}

/* round(x / scale) + zero point, cut to what the dtype holds. */
static bool put_quantized(run *run, const value *x, const value *scale, const value *zero, kw_dtype dtype,
                          unsigned output) {
  limits limits = {0, 0};
  if (!limits_of(run, dtype, &limits)) return false;
  x = CALL(run, "round", arg(CALL(run, "div.Tensor", arg(x), arg(scale))));
  if (zero) x = CALL(run, "add.Tensor", arg(x), arg(run_cast(run, zero, KW_F32)));
  x = CALL(run, "clamp", arg(x), kw_arg_scalar_f64(limits.least), kw_arg_scalar_f64(limits.most));
  return CALL_TO(run, output, "_to_copy", arg(x), kw_arg_dtype(dtype));
}

bool op_quantize(run *run) {
  const value *x = run_input(run, 0), *scale = run_input(run, 1), *zero = run_input(run, 2);
  const int64_t to = node_int(run->node, "output_dtype", 0);
  const kw_dtype dtype = zero ? zero->ref.dtype : to ? node_dtype_of((ONNXTensorElementDataType)to) : KW_U8;
  if (!x || !scale) return run_refuse(run, "an input is missing");
  scale = spread(run, run_cast(run, scale, KW_F32), x);
  return put_quantized(run, run_cast(run, x, KW_F32), scale, spread(run, zero, x), dtype, 0);
}

bool op_dequantize(run *run) {
  const value *q = run_input(run, 0), *scale = run_input(run, 1), *zero = run_input(run, 2),
              *x = run_cast(run, q, KW_F32);
  const int64_t to = node_int(run->node, "output_dtype", 0);
  kw_dtype dtype;
  if (!q || !scale) return run_refuse(run, "an input is missing");
  dtype = to ? node_dtype_of((ONNXTensorElementDataType)to) : scale->ref.dtype;
  if (zero) x = CALL(run, "sub.Tensor", arg(x), arg(spread(run, run_cast(run, zero, KW_F32), q)));
  scale = spread(run, run_cast(run, scale, KW_F32), q);
  if (dtype == KW_F32) return CALL_TO(run, 0, "mul.Tensor", arg(x), arg(scale));
  return CALL_TO(run, 0, "_to_copy", arg(CALL(run, "mul.Tensor", arg(x), arg(scale))), kw_arg_dtype(dtype));
}

/* To u8, by the least and the most of x and 0. */
bool op_dynamic_quantize(run *run) {
  const value *x = run_input(run, 0), *least, *most, *scale, *zero;
  least = CALL(run, "clamp", arg(CALL(run, "amin", arg(x))), kw_arg_none(), kw_arg_scalar_f64(0));
  most = CALL(run, "clamp", arg(CALL(run, "amax", arg(x))), kw_arg_scalar_f64(0));
  scale = CALL(run, "div.Scalar", arg(CALL(run, "sub.Tensor", arg(most), arg(least))), kw_arg_scalar_f64(255));
  zero = CALL(run, "neg", arg(CALL(run, "div.Tensor", arg(least), arg(scale))));
  zero = CALL(run, "clamp", arg(CALL(run, "round", arg(zero))), kw_arg_scalar_f64(0), kw_arg_scalar_f64(255));
  return run_put(run, 1, scale) && CALL_TO(run, 2, "_to_copy", arg(zero), kw_arg_dtype(KW_U8)) &&
         put_quantized(run, x, scale, zero, KW_U8, 0);
}

/* ---- Products ---------------------------------------------------------------------------------------------------- */

/* q - zero point in a wider dtype; a zero point for each row of a matrix stands in a column. */
static value *centred(run *run, const value *q, const value *zero, kw_dtype dtype, bool rows) {
  if (!q) return NULL;
  if (zero && zero->ref.rank == 1 && rows && run_numel(zero) > 1) zero = run_unsqueeze(run, zero, 1);
  q = run_cast(run, q, dtype);
  return zero ? CALL(run, "sub.Tensor", arg(q), arg(run_cast(run, zero, dtype))) : (value *)(uintptr_t)q;
}

bool op_matmul_integer(run *run) {
  run_matmul(run, centred(run, run_input(run, 0), run_input(run, 2), KW_I32, true),
             centred(run, run_input(run, 1), run_input(run, 3), KW_I32, false), 0);
  return !run->failed;
}

bool op_qlinear_matmul(run *run) {
  const value *a_scale = run_input(run, 1), *b_scale = run_input(run, 4), *y_scale = run_input(run, 6);
  const value *zero = run_input(run, 7), *sum, *scale;
  if (!a_scale || !b_scale || !y_scale || !zero) return run_refuse(run, "an input is missing");
  if (a_scale->ref.rank == 1 && run_numel(a_scale) > 1) a_scale = run_unsqueeze(run, a_scale, 1);
  sum = run_matmul(run, centred(run, run_input(run, 0), run_input(run, 2), KW_I32, true),
                   centred(run, run_input(run, 3), run_input(run, 5), KW_I32, false), -1);
  scale = CALL(run, "mul.Tensor", arg(run_cast(run, a_scale, KW_F32)), arg(run_cast(run, b_scale, KW_F32)));
  sum = CALL(run, "mul.Tensor", arg(run_cast(run, sum, KW_F32)), arg(scale));
  return put_quantized(run, sum, run_cast(run, y_scale, KW_F32), zero, zero->ref.dtype, 0);
}

/* A value for each output channel. */
static value *per_channel(run *run, const value *of, unsigned rank, unsigned dim) {
  int64_t shape[KW_MAX_RANK];
  if (!of || run_numel(of) == 1) return of ? run_reshape(run, of, 0, NULL) : NULL;
  for (unsigned d = 0; d < rank; ++d) shape[d] = d == dim ? run_numel(of) : 1;
  return run_reshape(run, of, rank, shape);
}

/* In f32, which is exact while no sum of products can pass its 24 bits. */
static value *convolve(run *run, const value *x, const value *x_zero, const value *weight, const value *weight_zero) {
  if (!x || !weight) return run_refuse(run, "an input is missing"), NULL;
  if (run_numel_from(weight, 1) * 255 * 255 > 1 << 24)
    return run_refuse(run, "sums of %lld products, which f32 does not hold", (long long)run_numel_from(weight, 1)),
           NULL;
  weight_zero = per_channel(run, weight_zero, weight->ref.rank, 0);
  return run_convolution(run, centred(run, x, x_zero, KW_F32, false), centred(run, weight, weight_zero, KW_F32, false),
                         NULL, -1);
}

bool op_conv_integer(run *run) {
  const value *sum = convolve(run, run_input(run, 0), run_input(run, 2), run_input(run, 1), run_input(run, 3));
  return CALL_TO(run, 0, "_to_copy", arg(sum), kw_arg_dtype(KW_I32));
}

bool op_qlinear_conv(run *run) {
  const value *zero = run_input(run, 7), *bias = run_input(run, 8), *y_scale = run_input(run, 6), *scale;
  const value *sum = convolve(run, run_input(run, 0), run_input(run, 2), run_input(run, 3), run_input(run, 5));
  if (!sum || !zero) return run_refuse(run, "an input is missing");
  if (bias)
    sum = CALL(run, "add.Tensor", arg(sum), arg(per_channel(run, run_cast(run, bias, KW_F32), sum->ref.rank, 1)));
  scale = CALL(run, "mul.Tensor", arg(run_input(run, 1)), arg(run_input(run, 4)));
  sum = sum ? CALL(run, "mul.Tensor", arg(sum), arg(per_channel(run, scale, sum->ref.rank, 1))) : NULL;
  return put_quantized(run, sum, y_scale, zero, zero->ref.dtype, 0);
}
