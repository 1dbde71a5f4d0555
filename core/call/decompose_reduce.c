/* SPDX-License-Identifier: Apache-2.0
 *
 * Decompositions of reductions and scans, in their general forms or as trees of pointwise ops, and of what is made of
 * reductions: softmax and norms.
 */
#include "call/decompose.h"

#include "base/dtype.h"
#include "base/error.h"
#include "call/value.h"

#include <math.h>

/* ---- To the general form ----------------------------------------------------------------------------------------- */

kw_status kw_decompose_sum_all(kw_composition *c, const kw_value *args, kw_tensor **outs) {
  kw_value all[] = {args[0], kw_arg_none(), kw_arg_bool(false), args[1]};
  return kw_compose_call(c, "sum.dim_IntList", all, 4, outs);
}

kw_status kw_decompose_mean_all(kw_composition *c, const kw_value *args, kw_tensor **outs) {
  kw_value all[] = {args[0], kw_arg_none(), kw_arg_bool(false), args[1]};
  return kw_compose_call(c, "mean.dim", all, 4, outs);
}

kw_status kw_decompose_any_all(kw_composition *c, const kw_value *args, kw_tensor **outs) {
  return kw_compose_call(c, "any.dims", args, 1, outs);
}

kw_status kw_decompose_any_dim(kw_composition *c, const kw_value *args, kw_tensor **outs) {
  kw_value one[] = {args[0], kw_arg_int_list(&args[1].u.i, 1), args[2]};
  return kw_compose_call(c, "any.dims", one, 3, outs);
}

kw_status kw_decompose_all_all(kw_composition *c, const kw_value *args, kw_tensor **outs) {
  return kw_compose_call(c, "all.dims", args, 1, outs);
}

kw_status kw_decompose_all_dim(kw_composition *c, const kw_value *args, kw_tensor **outs) {
  kw_value one[] = {args[0], kw_arg_int_list(&args[1].u.i, 1), args[2]};
  return kw_compose_call(c, "all.dims", one, 3, outs);
}

kw_status kw_decompose_max_all(kw_composition *c, const kw_value *args, kw_tensor **outs) {
  return kw_compose_call(c, "amax", args, 1, outs);
}

kw_status kw_decompose_min_all(kw_composition *c, const kw_value *args, kw_tensor **outs) {
  return kw_compose_call(c, "amin", args, 1, outs);
}

kw_status kw_decompose_var_dim(kw_composition *c, const kw_value *args, kw_tensor **outs) {
  kw_value corrected[] = {args[0], args[1], kw_arg_scalar_i64(args[2].u.b ? 1 : 0), args[3]};
  return kw_compose_call(c, "var.correction", corrected, 4, outs);
}

/* ---- Over dimensions --------------------------------------------------------------------------------------------- */

/* How many elements of x go into one of the result. */
static int64_t terms(const kw_tensor *x, const kw_tensor *out) {
  return out->ref.numel > 0 ? x->ref.numel / out->ref.numel : 0;
}

/* args: self, dim, keepdim, dtype. */
kw_status kw_decompose_mean_dim(kw_composition *c, const kw_value *args, kw_tensor **outs) {
  kw_tensor *x = kw_compose_arg(c, &args[0]);
  kw_tensor *sum = KW_OP(c, "sum.dim_IntList", T(x), args[1], args[2]);
  KW_INTO(c, outs[0], "div.Tensor", T(sum), T(kw_compose_real(c, (double)(x ? terms(x, outs[0]) : 0))));
  return c->status;
}

/* The order turned, the largest stays the smallest: -x, or every bit of an integer. Into `out`, or a new tensor. */
static kw_tensor *turned(kw_composition *c, kw_tensor *x, kw_tensor *out) {
  const kw_value not [] = {T(x), T(kw_compose_integer(c, KW_BOOL, 0))};
  if (c->dtype == KW_BOOL) return kw_compose_last(c, out, "le.Tensor", 2, not );
  const int64_t from = kw_dtype_is_integral(c->dtype) ? -1 : 0;
  const kw_value less[] = {T(kw_compose_integer(c, c->dtype, from)), T(x), kw_arg_scalar_i64(-1)};
  return kw_compose_last(c, out, "add.Tensor", 3, less);
}

kw_status kw_decompose_amin(kw_composition *c, const kw_value *args, kw_tensor **outs) {
  kw_tensor *largest = KW_OP(c, "amax", T(turned(c, kw_compose_arg(c, &args[0]), NULL)), args[1], args[2]);
  turned(c, largest, outs[0]);
  return c->status;
}

/* Whether any element is (not) zero: the largest of those facts. Without dimensions in a list each is for itself. */
static kw_tensor *any_that(kw_composition *c, const kw_value *args, bool zero) {
  kw_tensor *x = kw_value_as_tensor(&args[0]);
  if (x->ref.numel == 0) return kw_compose_integer(c, KW_BOOL, 0);
  kw_tensor *fact = KW_OP(c, "eq.Tensor", T(x), T(kw_compose_integer(c, x->ref.dtype, 0)));
  if (!zero) fact = kw_compose_not(c, fact);
  if (args[1].tag == KW_TAG_INT_LIST && args[1].count == 0) return fact;
  const kw_value all = kw_arg_int_list(NULL, 0);
  return KW_OP(c, "amax", T(fact), args[1].tag == KW_TAG_NONE ? all : args[1], args[2]);
}

kw_status kw_decompose_any_dims(kw_composition *c, const kw_value *args, kw_tensor **outs) {
  kw_compose_put(c, outs[0], any_that(c, args, false));
  return c->status;
}

kw_status kw_decompose_all_dims(kw_composition *c, const kw_value *args, kw_tensor **outs) {
  kw_compose_put(c, outs[0], kw_compose_not(c, any_that(c, args, true)));
  return c->status;
}

/* The lowest of the places where the largest element is, or NaN. */
kw_status kw_decompose_argmax(kw_composition *c, const kw_value *args, kw_tensor **outs) {
  kw_tensor *x = kw_compose_arg(c, &args[0]);
  if (args[1].tag == KW_TAG_NONE || (x && x->ref.rank == 0)) x = kw_compose_flat(c, x);
  if (!x) return c->status;
  const bool whole = args[1].tag == KW_TAG_NONE;
  const int64_t dim = whole ? 0 : kw_compose_dim(args[1].u.i, x->ref.rank), count = x->ref.shape[dim];
  kw_tensor *largest = kw_compose_reduce(c, "amax", x, &dim, 1);
  kw_tensor *found = KW_OP(c, "eq.Tensor", T(x), T(largest));
  if (kw_dtype_is_float(c->dtype)) {
    found = kw_compose_not(
        c, KW_OP(c, "bitwise_and.Tensor", T(kw_compose_not(c, found)), T(KW_OP(c, "le.Tensor", T(x), T(x)))));
  }
  int64_t shape[KW_MAX_RANK];
  for (uint32_t d = 0; d < x->ref.rank; ++d) shape[d] = d == dim ? count : 1;
  kw_tensor *row = kw_compose_iota(c, count), *places = NULL;
  if (c->status != KW_OK) return c->status;
  kw_status status = kw_tensor_view(row, x->ref.rank, shape, &places);
  places = kw_compose_take(c, status, places);
  kw_tensor *place = KW_OP(c, "where.self", T(found), T(places), T(kw_compose_integer(c, KW_I64, count)));
  const bool keeps = args[2].u.b && !whole;
  kw_tensor *lowest = KW_OP(c, "amin", T(place), kw_arg_int_list(&dim, 1), kw_arg_bool(keeps));
  if (!lowest || lowest->ref.rank == outs[0]->ref.rank) {
    kw_compose_put(c, outs[0], lowest);
    return c->status;
  }
  kw_tensor *shaped = NULL; /* of rank 0, or with a size of 1 for each dimension */
  status = kw_tensor_view(lowest, outs[0]->ref.rank, outs[0]->ref.shape, &shaped);
  kw_compose_put(c, outs[0], kw_compose_take(c, status, shaped));
  return c->status;
}

kw_status kw_decompose_argmin(kw_composition *c, const kw_value *args, kw_tensor **outs) {
  return kw_compose_call(c, "argmax", (kw_value[]){T(turned(c, kw_compose_arg(c, &args[0]), NULL)), args[1], args[2]},
                         3, outs);
}

/* ---- Trees ------------------------------------------------------------------------------------------------------- */

/* The largest along a dimension, which stays with size 1: of each half and the other, until one is left. */
static kw_tensor *largest_along(kw_composition *c, kw_tensor *x, int64_t dim) {
  const uint32_t since = c->count;
  for (int64_t count = x ? x->ref.shape[dim] : 0; count > 1 && c->status == KW_OK; count -= count / 2) {
    const int64_t half = count / 2; /* of an odd number the one in the middle is in both */
    x = KW_OP(c, "maximum", T(kw_compose_slice(c, x, dim, 0, count - half)),
              T(kw_compose_slice(c, x, dim, half, count)));
    kw_compose_drop(c, since, x, NULL);
  }
  return x;
}

/* args: self, dim, keepdim. */
kw_status kw_decompose_amax(kw_composition *c, const kw_value *args, kw_tensor **outs) {
  kw_tensor *x = kw_compose_arg(c, &args[0]), *shaped = NULL;
  if (!x || x->ref.numel == 0)
    return c->status != KW_OK ? c->status : kw_fail(KW_ERR_INVALID_ARGUMENT, "there is no largest of no elements");
  if (args[1].count == 0) x = kw_compose_flat(c, x);
  for (uint32_t i = 0; x && i < (args[1].count > 0 ? args[1].count : 1) && x->ref.rank > 0; ++i) {
    x = largest_along(c, x, args[1].count > 0 ? kw_compose_dim(args[1].u.ints[i], x->ref.rank) : 0);
  }
  if (c->status != KW_OK) return c->status;
  x = kw_compose_flat(c, x);
  if (c->status != KW_OK) return c->status;
  kw_status status = kw_tensor_view(x, outs[0]->ref.rank, outs[0]->ref.shape, &shaped);
  kw_compose_put(c, outs[0], kw_compose_take(c, status, shaped));
  return c->status;
}

kw_status kw_decompose_prod(kw_composition *c, const kw_value *args, kw_tensor **outs) {
  kw_tensor *row = kw_compose_flat(c, kw_compose_arg(c, &args[0]));
  KW_INTO(c, outs[0], "prod.dim_int", T(row), kw_arg_int(0), kw_arg_bool(false), kw_arg_dtype(c->dtype));
  return c->status;
}

/* Each element and the one 1, 2, 4 .. places before it. */
kw_status kw_decompose_cumsum(kw_composition *c, const kw_value *args, kw_tensor **outs) {
  kw_tensor *x = kw_compose_arg(c, &args[0]);
  const uint32_t since = c->count;
  if (x && x->ref.rank > 0) {
    const int64_t dim = kw_compose_dim(args[1].u.i, x->ref.rank), count = x->ref.shape[dim];
    for (int64_t step = 1; step < count && c->status == KW_OK; step *= 2) {
      kw_tensor *next = kw_compose_new(c, c->dtype, x->ref.rank, x->ref.shape);
      kw_compose_put(c, kw_compose_slice(c, next, dim, 0, step), kw_compose_slice(c, x, dim, 0, step));
      kw_tensor *sums = kw_compose_slice(c, next, dim, step, count);
      const kw_value pair[] = {T(kw_compose_slice(c, x, dim, step, count)),
                               T(kw_compose_slice(c, x, dim, 0, count - step))};
      kw_compose_call(c, "add.Tensor", pair, 2, &sums);
      kw_compose_drop(c, since, next, NULL);
      x = next;
    }
  }
  kw_compose_put(c, outs[0], x);
  return c->status;
}

/* ---- Softmax and norms ------------------------------------------------------------------------------------------- */

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

/* The mean over the trailing dimensions, which stay with size 1. */
static kw_tensor *mean_of_rows(kw_composition *c, kw_tensor *x, uint32_t trailing, int64_t count) {
  int64_t dims[KW_MAX_RANK];
  for (uint32_t i = 0; i < trailing; ++i) dims[i] = (int64_t)(x->ref.rank - trailing + i);
  return KW_OP(c, "div.Tensor", T(kw_compose_reduce(c, "sum.dim_IntList", x, dims, trailing)),
               T(kw_compose_real(c, (double)count)));
}

/* 1 / sqrt(mean(x^2) + eps) of each row. */
static kw_tensor *reciprocal_size(kw_composition *c, kw_tensor *x, uint32_t trailing, int64_t count, double eps) {
  kw_tensor *mean = mean_of_rows(c, KW_OP(c, "mul.Tensor", T(x), T(x)), trailing, count);
  return KW_OP(c, "rsqrt", T(KW_OP(c, "add.Tensor", T(mean), T(kw_compose_real(c, eps)))));
}

static int64_t count_of(const kw_value *shape) {
  int64_t count = 1;
  for (uint32_t i = 0; i < shape->count; ++i) count *= shape->u.ints[i];
  return count;
}

/* args: input, normalized_shape, weight, bias, eps. */
kw_status kw_decompose_layer_norm(kw_composition *c, const kw_value *args, kw_tensor **outs) {
  kw_tensor *x = kw_compose_arg(c, &args[0]), *weight = kw_compose_arg(c, &args[2]),
            *bias = kw_compose_arg(c, &args[3]);
  const int64_t count = count_of(&args[1]);
  if (c->status != KW_OK) return c->status;
  if (count == 0) { /* rows of nothing have a mean all the same */
    kw_compose_fill(c, outs[1], kw_arg_scalar_i64(0));
    kw_compose_fill(c, outs[2], kw_arg_scalar_f64(NAN));
    return c->status;
  }
  kw_tensor *mean = mean_of_rows(c, x, args[1].count, count);
  kw_tensor *centred = kw_compose_difference(c, x, mean);
  if (!centred) return c->status;
  kw_tensor *rstd = reciprocal_size(c, centred, args[1].count, count, args[4].u.f);
  kw_tensor *y = KW_OP(c, "mul.Tensor", T(centred), T(rstd));
  if (weight) y = KW_OP(c, "mul.Tensor", T(y), T(weight));
  if (bias) y = KW_OP(c, "add.Tensor", T(y), T(bias));
  kw_compose_put(c, outs[0], y);
  kw_compose_put(c, outs[1], mean);
  kw_compose_put(c, outs[2], rstd);
  return c->status;
}

/* args: input, normalized_shape, weight, eps. */
kw_status kw_decompose_rms_norm(kw_composition *c, const kw_value *args, kw_tensor **outs) {
  kw_tensor *x = kw_compose_arg(c, &args[0]), *weight = kw_compose_arg(c, &args[2]);
  const double eps = args[3].tag == KW_TAG_FLOAT ? args[3].u.f : c->dtype == KW_F64 ? 0x1p-52 : 0x1p-23;
  if (!x) return c->status;
  kw_tensor *y = KW_OP(c, "mul.Tensor", T(x), T(reciprocal_size(c, x, args[1].count, count_of(&args[1]), eps)));
  if (weight) y = KW_OP(c, "mul.Tensor", T(y), T(weight));
  kw_compose_put(c, outs[0], y);
  return c->status;
}
