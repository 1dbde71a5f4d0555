/* SPDX-License-Identifier: Apache-2.0
 *
 * Decompositions of reductions and scans, in their general forms or as trees of pointwise ops.
 */
#include "call/decompose.h"

#include "base/dtype.h"
#include "base/error.h"
#include "call/value.h"

/* ---- To the general form ----------------------------------------------------------------------------------------- */

/* Over all elements. args: self, dtype. */
kw_status kw_decompose_over_all(kw_composition *c, const kw_value *args, kw_tensor **outs) {
  return kw_compose_call(c, kw_compose_first(c), (kw_value[]){args[0], kw_arg_none(), kw_arg_bool(false), args[1]}, 4,
                         outs);
}

/* The same of an op that takes no dtype, and none for all. */
kw_status kw_decompose_whole(kw_composition *c, const kw_value *args, kw_tensor **outs) {
  return kw_compose_call(c, kw_compose_first(c), args, 1, outs);
}

/* args: self, dim, keepdim. */
kw_status kw_decompose_one_dim(kw_composition *c, const kw_value *args, kw_tensor **outs) {
  return kw_compose_call(c, kw_compose_first(c), (kw_value[]){args[0], kw_arg_int_list(&args[1].u.i, 1), args[2]}, 3,
                         outs);
}

kw_status kw_decompose_var_dim(kw_composition *c, const kw_value *args, kw_tensor **outs) {
  kw_value corrected[] = {args[0], args[1], kw_arg_scalar_i64(args[2].u.b ? 1 : 0), args[3]};
  return kw_compose_call(c, "var.correction", corrected, 4, outs);
}

/* ---- Over dimensions --------------------------------------------------------------------------------------------- */

/* args: self, dim, keepdim, dtype. */
kw_status kw_decompose_mean_dim(kw_composition *c, const kw_value *args, kw_tensor **outs) {
  kw_tensor *x = kw_compose_arg(c, &args[0]);
  kw_tensor *sum = KW_OP(c, "sum.dim_IntList", T(x), args[1], args[2]);
  KW_INTO(c, outs[0], "div.Tensor", T(sum), T(kw_compose_real(c, (double)(x ? kw_compose_terms(x, outs[0]) : 0))));
  return c->status;
}

/* The order turned, the largest stays the smallest: -x, or every bit of an integer. Into `out`, or a new tensor. */
static kw_tensor *turned(kw_composition *c, kw_tensor *x, kw_tensor *out) {
  const kw_value refuted[] = {T(x), T(kw_compose_integer(c, KW_BOOL, 0))};
  if (c->dtype == KW_BOOL) return kw_compose_last(c, out, "le.Tensor", 2, refuted);
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
    found = kw_compose_not(c, kw_compose_and(c, kw_compose_not(c, found), kw_compose_le(c, x, x)));
  }
  kw_tensor *places = kw_compose_along(c, kw_compose_iota(c, count), (uint32_t)dim, x->ref.rank);
  kw_tensor *place = kw_compose_where(c, found, places, kw_compose_integer(c, KW_I64, count));
  kw_tensor *lowest = kw_compose_reduce(c, "amin", place, &dim, 1);
  if (lowest) kw_compose_put(c, outs[0], kw_compose_view(c, lowest, outs[0]->ref.rank, outs[0]->ref.shape));
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
  kw_tensor *x = kw_compose_arg(c, &args[0]);
  if (!x || x->ref.numel == 0)
    return c->status != KW_OK ? c->status : kw_fail(KW_ERR_INVALID_ARGUMENT, "there is no largest of no elements");
  if (args[1].count == 0) x = kw_compose_flat(c, x);
  for (uint32_t i = 0; x && i < (args[1].count > 0 ? args[1].count : 1) && x->ref.rank > 0; ++i) {
    x = largest_along(c, x, args[1].count > 0 ? kw_compose_dim(args[1].u.ints[i], x->ref.rank) : 0);
  }
  if (c->status == KW_OK) kw_compose_put(c, outs[0], kw_compose_view(c, x, outs[0]->ref.rank, outs[0]->ref.shape));
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
