/* SPDX-License-Identifier: Apache-2.0
 *
 * Decompositions of what is made of reductions: variance, log-sum-exp, softmax and norms, and their gradients.
 */
#include "call/decompose.h"

#include "base/scalar.h"
#include "call/value.h"

#include <math.h>

/* ---- Statistics -------------------------------------------------------------------------------------------------- */

/* The dimensions of an argument, all of them where it has none. */
static uint32_t dims_of(const kw_value *arg, uint32_t rank, int64_t dims[KW_MAX_RANK]) {
  if (arg->tag == KW_TAG_INT_LIST && arg->count > 0) {
    for (uint32_t i = 0; i < arg->count; ++i) dims[i] = arg->u.ints[i];
    return arg->count;
  }
  for (uint32_t d = 0; d < rank; ++d) dims[d] = d;
  return rank;
}

static kw_tensor *mean_over(kw_composition *c, kw_tensor *x, const int64_t *dims, uint32_t dim_count, double count) {
  kw_tensor *sum = kw_compose_reduce(c, "sum.dim_IntList", x, dims, dim_count);
  return kw_compose_quotient(c, sum, kw_compose_real(c, count));
}

/* args: self, dim, correction, keepdim. */
kw_status kw_decompose_var(kw_composition *c, const kw_value *args, kw_tensor **outs) {
  kw_tensor *x = kw_compose_arg(c, &args[0]);
  if (!x) return c->status;
  int64_t dims[KW_MAX_RANK];
  const uint32_t dim_count = dims_of(&args[1], x->ref.rank, dims);
  const int64_t each = kw_compose_terms(x, outs[0]);
  const double correction = args[2].tag == KW_TAG_SCALAR ? kw_scalar_real(&args[2]) : 1;
  kw_tensor *centred = kw_compose_difference(c, x, mean_over(c, x, dims, dim_count, (double)each));
  const kw_value sum[] = {T(kw_compose_product(c, centred, centred)), kw_arg_int_list(dims, dim_count), args[3]};
  kw_tensor *divisor = kw_compose_real(c, each > 0 ? fmax((double)each - correction, 0) : 0);
  KW_INTO(c, outs[0], "div.Tensor", T(kw_compose_op(c, "sum.dim_IntList", 3, sum)), T(divisor));
  return c->status;
}

/* args: self, dim, keepdim. */
kw_status kw_decompose_max_dim(kw_composition *c, const kw_value *args, kw_tensor **outs) {
  kw_compose_call(c, "amax", (kw_value[]){args[0], kw_arg_int_list(&args[1].u.i, 1), args[2]}, 3, &outs[0]);
  return kw_compose_call(c, "argmax", args, 3, &outs[1]);
}

kw_status kw_decompose_min_dim(kw_composition *c, const kw_value *args, kw_tensor **outs) {
  kw_compose_call(c, "amin", (kw_value[]){args[0], kw_arg_int_list(&args[1].u.i, 1), args[2]}, 3, &outs[0]);
  return kw_compose_call(c, "argmin", args, 3, &outs[1]);
}

/* Less the largest of its row, or 0 where that is infinite. args: self, dim, keepdim. */
kw_status kw_decompose_logsumexp(kw_composition *c, const kw_value *args, kw_tensor **outs) {
  kw_tensor *x = kw_compose_arg(c, &args[0]);
  if (!x || x->ref.numel == 0) {
    kw_compose_fill(c, outs[0], kw_arg_scalar_f64(-INFINITY));
    return c->status;
  }
  int64_t dims[KW_MAX_RANK];
  const uint32_t dim_count = dims_of(&args[1], x->ref.rank, dims);
  kw_tensor *largest = kw_compose_reduce(c, "amax", x, dims, dim_count), *nothing = kw_compose_real(c, 0);
  largest = kw_compose_where(c, kw_compose_le(c, kw_compose_real(c, INFINITY), largest), nothing, largest);
  largest = kw_compose_where(c, kw_compose_le(c, largest, kw_compose_real(c, -INFINITY)), nothing, largest);
  kw_tensor *power = KW_OP(c, "exp", T(kw_compose_difference(c, x, largest)));
  const kw_value sum[] = {T(power), kw_arg_int_list(dims, dim_count), args[2]};
  kw_tensor *log = KW_OP(c, "log", T(kw_compose_op(c, "sum.dim_IntList", 3, sum)));
  if (c->status != KW_OK) return c->status;
  KW_INTO(c, outs[0], "add.Tensor", T(log), T(kw_compose_view(c, largest, outs[0]->ref.rank, outs[0]->ref.shape)));
  return c->status;
}

/* ---- Softmax ----------------------------------------------------------------------------------------------------- */

/* x less the largest of its row. */
static kw_tensor *below_largest(kw_composition *c, const kw_value *args, int64_t *out_dim) {
  kw_tensor *x = kw_compose_arg(c, &args[0]);
  *out_dim = x ? kw_compose_dim(args[1].u.i, x->ref.rank) : 0;
  return x ? kw_compose_difference(c, x, kw_compose_reduce(c, "amax", x, out_dim, x->ref.rank > 0)) : NULL;
}

kw_status kw_decompose_softmax(kw_composition *c, const kw_value *args, kw_tensor **outs) {
  int64_t dim;
  kw_tensor *power = KW_OP(c, "exp", T(below_largest(c, args, &dim)));
  if (!power) return c->status;
  kw_tensor *sum = kw_compose_reduce(c, "sum.dim_IntList", power, &dim, power->ref.rank > 0);
  KW_INTO(c, outs[0], "div.Tensor", T(power), T(sum));
  return c->status;
}

kw_status kw_decompose_log_softmax(kw_composition *c, const kw_value *args, kw_tensor **outs) {
  int64_t dim;
  kw_tensor *x = below_largest(c, args, &dim);
  kw_tensor *power = KW_OP(c, "exp", T(x));
  if (!power) return c->status;
  kw_tensor *sum = kw_compose_reduce(c, "sum.dim_IntList", power, &dim, power->ref.rank > 0);
  KW_INTO(c, outs[0], "add.Tensor", T(x), T(KW_OP(c, "log", T(sum))), kw_arg_scalar_i64(-1));
  return c->status;
}

/* args: grad_output, output, dim, input_dtype. */
kw_status kw_decompose_softmax_backward(kw_composition *c, const kw_value *args, kw_tensor **outs) {
  kw_tensor *grad = kw_compose_arg(c, &args[0]), *y = kw_compose_arg(c, &args[1]);
  if (!y) return c->status;
  const int64_t dim = kw_compose_dim(args[2].u.i, y->ref.rank);
  kw_tensor *sum = kw_compose_reduce(c, "sum.dim_IntList", kw_compose_product(c, grad, y), &dim, y->ref.rank > 0);
  KW_INTO(c, outs[0], "mul.Tensor", T(kw_compose_difference(c, grad, sum)), T(y));
  return c->status;
}

kw_status kw_decompose_log_softmax_backward(kw_composition *c, const kw_value *args, kw_tensor **outs) {
  kw_tensor *grad = kw_compose_arg(c, &args[0]), *y = kw_compose_arg(c, &args[1]);
  if (!y) return c->status;
  const int64_t dim = kw_compose_dim(args[2].u.i, y->ref.rank);
  kw_tensor *sum = kw_compose_reduce(c, "sum.dim_IntList", grad, &dim, y->ref.rank > 0);
  kw_tensor *share = kw_compose_product(c, KW_OP(c, "exp", T(y)), sum);
  KW_INTO(c, outs[0], "add.Tensor", T(grad), T(share), kw_arg_scalar_i64(-1));
  return c->status;
}

/* ---- Norms ------------------------------------------------------------------------------------------------------- */

static int64_t count_of(const kw_value *shape) {
  int64_t count = 1;
  for (uint32_t i = 0; i < shape->count; ++i) count *= shape->u.ints[i];
  return count;
}

/* The last dimensions of a rank. */
static const int64_t *last_dims(uint32_t rank, uint32_t count, int64_t dims[KW_MAX_RANK]) {
  for (uint32_t d = 0; d < rank; ++d) dims[d] = d;
  return dims + (rank - count);
}

static kw_tensor *reciprocal_root(kw_composition *c, kw_tensor *variance, double eps) {
  return KW_OP(c, "rsqrt", T(kw_compose_sum(c, variance, kw_compose_real(c, eps))));
}

/* 1 / sqrt(mean(x^2) + eps) over dimensions. */
static kw_tensor *reciprocal_size(kw_composition *c, kw_tensor *x, const int64_t *dims, uint32_t dim_count,
                                  double count, double eps) {
  return reciprocal_root(c, mean_over(c, kw_compose_product(c, x, x), dims, dim_count, count), eps);
}

/* y * weight + bias, where there are those. */
static kw_tensor *scaled(kw_composition *c, kw_tensor *y, kw_tensor *weight, kw_tensor *bias) {
  if (weight) y = kw_compose_product(c, y, weight);
  return bias ? kw_compose_sum(c, y, bias) : y;
}

/* Of rows of nothing, which have them all the same. */
static kw_status put_no_statistics(kw_composition *c, kw_tensor **outs) {
  kw_compose_fill(c, outs[1], kw_arg_scalar_i64(0));
  kw_compose_fill(c, outs[2], kw_arg_scalar_f64(NAN));
  return c->status;
}

/* args: input, normalized_shape, weight, bias, eps. */
kw_status kw_decompose_layer_norm(kw_composition *c, const kw_value *args, kw_tensor **outs) {
  kw_tensor *x = kw_compose_arg(c, &args[0]), *weight = kw_compose_arg(c, &args[2]),
            *bias = kw_compose_arg(c, &args[3]);
  const int64_t count = count_of(&args[1]);
  const uint32_t trailing = args[1].count;
  if (c->status != KW_OK) return c->status;
  if (count == 0) return put_no_statistics(c, outs);
  int64_t all[KW_MAX_RANK];
  const int64_t *dims = last_dims(x->ref.rank, trailing, all);
  kw_tensor *mean = mean_over(c, x, dims, trailing, (double)count);
  kw_tensor *centred = kw_compose_difference(c, x, mean);
  kw_tensor *rstd = reciprocal_size(c, centred, dims, trailing, (double)count, args[4].u.f);
  kw_compose_put(c, outs[0], scaled(c, kw_compose_product(c, centred, rstd), weight, bias));
  kw_compose_put(c, outs[1], mean);
  kw_compose_put(c, outs[2], rstd);
  return c->status;
}

/* args: input, normalized_shape, weight, eps. */
kw_status kw_decompose_rms_norm(kw_composition *c, const kw_value *args, kw_tensor **outs) {
  kw_tensor *x = kw_compose_arg(c, &args[0]), *weight = kw_compose_arg(c, &args[2]);
  const double eps = args[3].tag == KW_TAG_FLOAT ? args[3].u.f : c->dtype == KW_F64 ? 0x1p-52 : 0x1p-23;
  if (c->status != KW_OK) return c->status;
  int64_t all[KW_MAX_RANK];
  const int64_t *dims = last_dims(x->ref.rank, args[1].count, all);
  kw_tensor *size = reciprocal_size(c, x, dims, args[1].count, (double)count_of(&args[1]), eps);
  kw_compose_put(c, outs[0], scaled(c, kw_compose_product(c, x, size), weight, NULL));
  return c->status;
}

/* One number a channel, in front of a dimension for what lies behind. NULL stays that. */
static kw_tensor *by_channel(kw_composition *c, const kw_value *arg, const int64_t shape[3]) {
  kw_tensor *numbers = kw_compose_arg(c, arg);
  return numbers ? kw_compose_view(c, numbers, 3, shape) : NULL;
}

/* args: input, weight, bias, N, C, HxW, group, eps. */
kw_status kw_decompose_group_norm(kw_composition *c, const kw_value *args, kw_tensor **outs) {
  const int64_t samples = args[3].u.i, channels = args[4].u.i, behind = args[5].u.i, groups = args[6].u.i;
  kw_tensor *x = kw_compose_arg(c, &args[0]);
  if (!x) return c->status;
  if (x->ref.numel == 0) return put_no_statistics(c, outs);
  const int64_t rows[] = {samples * groups, x->ref.numel / (samples * groups)}, last = 1;
  const int64_t planes[] = {samples, channels, behind}, channel[] = {1, channels, 1};
  kw_tensor *row = kw_compose_view(c, x, 2, rows), *mean = mean_over(c, row, &last, 1, (double)rows[1]);
  kw_tensor *centred = kw_compose_difference(c, row, mean);
  kw_tensor *rstd = reciprocal_size(c, centred, &last, 1, (double)rows[1], args[7].u.f);
  kw_tensor *y = kw_compose_product(c, centred, rstd);
  if (c->status != KW_OK) return c->status;
  y = kw_compose_view(c, y, 3, planes);
  y = scaled(c, y, by_channel(c, &args[1], channel), by_channel(c, &args[2], channel));
  if (c->status != KW_OK) return c->status;
  kw_compose_put(c, outs[0], kw_compose_view(c, y, outs[0]->ref.rank, outs[0]->ref.shape));
  if (outs[1]) kw_compose_put(c, outs[1], kw_compose_view(c, mean, outs[1]->ref.rank, outs[1]->ref.shape));
  if (outs[2]) kw_compose_put(c, outs[2], kw_compose_view(c, rstd, outs[2]->ref.rank, outs[2]->ref.shape));
  return c->status;
}

/* args: input, weight, bias, running_mean, running_var, momentum, eps. */
kw_status kw_decompose_batch_norm(kw_composition *c, const kw_value *args, kw_tensor **outs) {
  kw_tensor *x = kw_compose_arg(c, &args[0]);
  if (!x || x->ref.numel == 0) return c->status;
  const int64_t channels = x->ref.shape[1], behind = x->ref.numel / (x->ref.shape[0] * channels);
  const int64_t planes[] = {x->ref.shape[0], channels, behind}, channel[] = {1, channels, 1};
  kw_tensor *mean = by_channel(c, &args[3], channel), *variance = by_channel(c, &args[4], channel);
  kw_tensor *centred = kw_compose_difference(c, kw_compose_view(c, x, 3, planes), mean);
  kw_tensor *y = kw_compose_product(c, centred, reciprocal_root(c, variance, args[6].u.f));
  y = scaled(c, y, by_channel(c, &args[1], channel), by_channel(c, &args[2], channel));
  if (c->status == KW_OK) kw_compose_put(c, outs[0], kw_compose_view(c, y, outs[0]->ref.rank, outs[0]->ref.shape));
  return c->status;
}

/* args: grad_out, input, normalized_shape, mean, rstd, weight, bias, output_mask. */
kw_status kw_decompose_layer_norm_backward(kw_composition *c, const kw_value *args, kw_tensor **outs) {
  kw_tensor *grad = kw_compose_arg(c, &args[0]), *x = kw_compose_arg(c, &args[1]),
            *weight = kw_compose_arg(c, &args[5]);
  kw_tensor *mean = kw_compose_arg(c, &args[3]), *rstd = kw_compose_arg(c, &args[4]);
  if (c->status != KW_OK) return c->status;
  const uint32_t rank = x->ref.rank, trailing = args[2].count;
  const double count = (double)count_of(&args[2]);
  int64_t dims[KW_MAX_RANK]; /* those of the rows, then those over which is normalised */
  const int64_t *inner = last_dims(rank, trailing, dims);
  kw_tensor *u = kw_compose_product(c, kw_compose_difference(c, x, mean), rstd);
  if (outs[0] && outs[0]->ref.numel > 0) {
    kw_tensor *g = weight ? kw_compose_product(c, grad, weight) : grad;
    kw_tensor *along = kw_compose_product(c, u, mean_over(c, kw_compose_product(c, g, u), inner, trailing, count));
    kw_tensor *rest = kw_compose_difference(c, g, mean_over(c, g, inner, trailing, count));
    kw_compose_put(c, outs[0], kw_compose_product(c, rstd, kw_compose_difference(c, rest, along)));
  }
  kw_tensor *terms[] = {outs[1] ? kw_compose_product(c, grad, u) : NULL, outs[2] ? grad : NULL};
  for (uint32_t i = 0; i < 2 && c->status == KW_OK; ++i) {
    if (!terms[i]) continue;
    kw_tensor *sum = terms[i];
    if (rank > trailing) sum = kw_compose_reduce(c, "sum.dim_IntList", sum, dims, rank - trailing);
    if (c->status != KW_OK) return c->status;
    kw_compose_put(c, outs[1 + i], kw_compose_view(c, sum, outs[1 + i]->ref.rank, outs[1 + i]->ref.shape));
  }
  return c->status;
}
