/* SPDX-License-Identifier: Apache-2.0
 *
 * Decompositions of more that is made of reductions: variance, log-sum-exp, gradients of softmax and norms, norms over
 * groups and channels.
 */
#include "call/decompose.h"

#include "base/scalar.h"
#include "call/value.h"

#include <math.h>

/* ---- Statistics ----------------------------------------------------------------------------------------------------
 */

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
  const int64_t each = outs[0]->ref.numel > 0 ? x->ref.numel / outs[0]->ref.numel : 0;
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

/* ---- Gradients of softmax ------------------------------------------------------------------------------------------
 */

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

/* ---- Norms ---------------------------------------------------------------------------------------------------------
 */

static kw_tensor *reciprocal_root(kw_composition *c, kw_tensor *variance, double eps) {
  return KW_OP(c, "rsqrt", T(kw_compose_sum(c, variance, kw_compose_real(c, eps))));
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
  if (x->ref.numel == 0) { /* groups of nothing have a mean all the same */
    kw_compose_fill(c, outs[1], kw_arg_scalar_i64(0));
    kw_compose_fill(c, outs[2], kw_arg_scalar_f64(NAN));
    return c->status;
  }
  const int64_t rows[] = {samples * groups, x->ref.numel / (samples * groups)}, last = 1;
  const int64_t planes[] = {samples, channels, behind}, channel[] = {1, channels, 1};
  kw_tensor *row = kw_compose_view(c, x, 2, rows), *mean = mean_over(c, row, &last, 1, (double)rows[1]);
  kw_tensor *centred = kw_compose_difference(c, row, mean);
  kw_tensor *variance = mean_over(c, kw_compose_product(c, centred, centred), &last, 1, (double)rows[1]);
  kw_tensor *rstd = reciprocal_root(c, variance, args[7].u.f), *y = kw_compose_product(c, centred, rstd);
  if (c->status != KW_OK) return c->status;
  y = kw_compose_view(c, y, 3, planes);
  kw_tensor *weight = by_channel(c, &args[1], channel), *bias = by_channel(c, &args[2], channel);
  if (weight) y = kw_compose_product(c, y, weight);
  if (bias) y = kw_compose_sum(c, y, bias);
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
  kw_tensor *weight = by_channel(c, &args[1], channel), *bias = by_channel(c, &args[2], channel);
  if (weight) y = kw_compose_product(c, y, weight);
  if (bias) y = kw_compose_sum(c, y, bias);
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
  int64_t dims[KW_MAX_RANK], count = 1; /* those of the rows, then those over which is normalised */
  for (uint32_t d = 0; d < rank; ++d) dims[d] = d;
  for (uint32_t i = 0; i < trailing; ++i) count *= args[2].u.ints[i];
  const int64_t *inner = dims + (rank - trailing);
  kw_tensor *u = kw_compose_product(c, kw_compose_difference(c, x, mean), rstd);
  if (outs[0] && outs[0]->ref.numel > 0) {
    kw_tensor *g = weight ? kw_compose_product(c, grad, weight) : grad;
    kw_tensor *along =
        kw_compose_product(c, u, mean_over(c, kw_compose_product(c, g, u), inner, trailing, (double)count));
    kw_tensor *rest = kw_compose_difference(c, g, mean_over(c, g, inner, trailing, (double)count));
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
