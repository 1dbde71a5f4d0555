/* SPDX-License-Identifier: Apache-2.0
 *
 * Decompositions of pointwise ops: arithmetic, order, comparisons, logic, roots. Numbers become tensors of rank 0; what
 * 16-bit floats lose is lost once, at the end.
 */
#include "call/decompose.h"

#include "base/dtype.h"

#include <math.h>

/* -alpha in two's complement for integers, so that u8 works too. */
static kw_value negated(kw_value scalar) {
  if (scalar.kind == KW_SCALAR_BOOL) return kw_arg_scalar_i64(scalar.u.b ? -1 : 0);
  if (scalar.kind == KW_SCALAR_I64) return kw_arg_scalar_i64((int64_t)(0 - (uint64_t)scalar.u.i));
  return kw_arg_scalar_f64(-scalar.u.f);
}

kw_status kw_decompose_sub_tensor(kw_composition *c, const kw_value *args, kw_tensor **outs) {
  return kw_compose_call(c, "add.Tensor", (kw_value[]){args[0], args[1], negated(args[2])}, 3, outs);
}

kw_status kw_decompose_sub_scalar(kw_composition *c, const kw_value *args, kw_tensor **outs) {
  return kw_compose_call(c, "add.Scalar", (kw_value[]){args[0], args[1], negated(args[2])}, 3, outs);
}

kw_status kw_decompose_swapped(kw_composition *c, const kw_value *args, kw_tensor **outs) {
  return kw_compose_call(c, kw_compose_first(c), (kw_value[]){args[1], args[0]}, 2, outs);
}

kw_status kw_decompose_hardtanh(kw_composition *c, const kw_value *args, kw_tensor **outs) {
  return kw_compose_call(c, "clamp", args, 3, outs);
}

/* ---- Arithmetic -------------------------------------------------------------------------------------------------- */

/* The op of two tensors, with numbers as such. */
kw_status kw_decompose_pair(kw_composition *c, const kw_value *args, kw_tensor **outs) {
  KW_INTO(c, outs[0], kw_compose_first(c), T(kw_compose_arg(c, &args[0])), T(kw_compose_arg(c, &args[1])));
  return c->status;
}

kw_status kw_decompose_add_scalar(kw_composition *c, const kw_value *args, kw_tensor **outs) {
  KW_INTO(c, outs[0], "add.Tensor", T(kw_compose_arg(c, &args[0])), T(kw_compose_arg(c, &args[1])), args[2]);
  return c->status;
}

kw_status kw_decompose_div(kw_composition *c, const kw_value *args, kw_tensor **outs) {
  KW_INTO(c, outs[0], "div.Tensor_mode", T(kw_compose_arg(c, &args[0])), T(kw_compose_arg(c, &args[1])), kw_arg_none());
  return c->status;
}

kw_status kw_decompose_div_scalar_mode(kw_composition *c, const kw_value *args, kw_tensor **outs) {
  KW_INTO(c, outs[0], "div.Tensor_mode", T(kw_compose_arg(c, &args[0])), T(kw_compose_arg(c, &args[1])), args[2]);
  return c->status;
}

kw_status kw_decompose_neg(kw_composition *c, const kw_value *args, kw_tensor **outs) {
  KW_INTO(c, outs[0], "mul.Tensor", T(kw_compose_arg(c, &args[0])), T(kw_compose_integer(c, c->dtype, -1)));
  return c->status;
}

/* 0 - x where that is not negative, which turns -0 too. */
kw_tensor *kw_compose_magnitude(kw_composition *c, kw_tensor *x, kw_tensor *out) {
  kw_tensor *zero = kw_compose_integer(c, c->dtype, 0);
  kw_tensor *turned = kw_compose_difference(c, zero, x);
  const kw_value where[] = {T(kw_compose_le(c, x, zero)), T(turned), T(x)};
  return kw_compose_last(c, out, "where.self", 3, where);
}

kw_status kw_decompose_abs(kw_composition *c, const kw_value *args, kw_tensor **outs) {
  kw_compose_magnitude(c, kw_compose_arg(c, &args[0]), outs[0]);
  return c->status;
}

/* ---- Order ------------------------------------------------------------------------------------------------------- */

/* b where a is no larger and a elsewhere: that is the larger one, and a where one is NaN; so where b is, b after all.
 * Into `out`, or a new tensor. */
static kw_tensor *extreme(kw_composition *c, kw_tensor *a, kw_tensor *b, bool largest, kw_tensor *out) {
  kw_tensor *chooses_b = largest ? kw_compose_le(c, a, b) : kw_compose_le(c, b, a);
  const kw_value choose[] = {T(chooses_b), T(b), T(a)};
  if (!kw_dtype_is_float(c->dtype)) return kw_compose_last(c, out, "where.self", 3, choose);
  kw_tensor *chosen = kw_compose_op(c, "where.self", 3, choose);
  const kw_value end[] = {T(kw_compose_le(c, b, b)), T(chosen), T(b)};
  return kw_compose_last(c, out, "where.self", 3, end);
}

kw_status kw_decompose_maximum(kw_composition *c, const kw_value *args, kw_tensor **outs) {
  extreme(c, kw_compose_arg(c, &args[0]), kw_compose_arg(c, &args[1]), true, outs[0]);
  return c->status;
}

kw_status kw_decompose_minimum(kw_composition *c, const kw_value *args, kw_tensor **outs) {
  extreme(c, kw_compose_arg(c, &args[0]), kw_compose_arg(c, &args[1]), false, outs[0]);
  return c->status;
}

/* A bound as a tensor: an integer past the range of an integer dtype is the end of that. */
static kw_tensor *bound(kw_composition *c, const kw_value *arg) {
  if (arg->tag != KW_TAG_SCALAR || arg->kind != KW_SCALAR_I64 || !kw_dtype_is_integral(c->dtype) || c->dtype == KW_I64)
    return kw_compose_arg(c, arg);
  return kw_compose_number(c, c->dtype, kw_arg_scalar_f64((double)arg->u.i)); /* saturates; exact below 2^53 */
}

kw_status kw_decompose_clamp(kw_composition *c, const kw_value *args, kw_tensor **outs) {
  kw_tensor *x = kw_compose_arg(c, &args[0]), *least = bound(c, &args[1]), *most = bound(c, &args[2]);
  const kw_value raise[] = {T(x), T(least)};
  if (least) x = kw_compose_last(c, most ? NULL : outs[0], "maximum", 2, raise);
  if (most) KW_INTO(c, outs[0], "minimum", T(x), T(most));
  return c->status;
}

kw_status kw_decompose_relu(kw_composition *c, const kw_value *args, kw_tensor **outs) {
  KW_INTO(c, outs[0], "maximum", T(kw_compose_arg(c, &args[0])), T(kw_compose_integer(c, c->dtype, 0)));
  return c->status;
}

/* ---- Comparisons ------------------------------------------------------------------------------------------------- */

static kw_tensor *equal(kw_composition *c, kw_tensor *a, kw_tensor *b) {
  return kw_compose_and(c, kw_compose_le(c, a, b), kw_compose_le(c, b, a));
}

/* Where a mask is false, into `out`. */
static void put_not(kw_composition *c, kw_tensor *out, kw_tensor *mask) {
  KW_INTO(c, out, "le.Tensor", T(mask), T(kw_compose_integer(c, KW_BOOL, 0)));
}

kw_status kw_decompose_eq(kw_composition *c, const kw_value *args, kw_tensor **outs) {
  kw_tensor *a = kw_compose_arg(c, &args[0]), *b = kw_compose_arg(c, &args[1]);
  KW_INTO(c, outs[0], "bitwise_and.Tensor", T(kw_compose_le(c, a, b)), T(kw_compose_le(c, b, a)));
  return c->status;
}

kw_status kw_decompose_ne(kw_composition *c, const kw_value *args, kw_tensor **outs) {
  kw_tensor *a = kw_compose_arg(c, &args[0]), *b = kw_compose_arg(c, &args[1]);
  put_not(c, outs[0], equal(c, a, b));
  return c->status;
}

/* Not larger, and not equal. */
kw_status kw_decompose_lt(kw_composition *c, const kw_value *args, kw_tensor **outs) {
  kw_tensor *a = kw_compose_arg(c, &args[0]), *b = kw_compose_arg(c, &args[1]);
  KW_INTO(c, outs[0], "bitwise_and.Tensor", T(kw_compose_le(c, a, b)), T(kw_compose_not(c, kw_compose_le(c, b, a))));
  return c->status;
}

/* ---- Logic ------------------------------------------------------------------------------------------------------- */

/* Where an argument is 0, which NaN is not. */
static kw_tensor *is_zero(kw_composition *c, const kw_value *arg) {
  return KW_OP(c, "eq.Tensor", T(kw_compose_arg(c, arg)), T(kw_compose_integer(c, c->dtype, 0)));
}

kw_status kw_decompose_logical_not(kw_composition *c, const kw_value *args, kw_tensor **outs) {
  KW_INTO(c, outs[0], "eq.Tensor", T(kw_compose_arg(c, &args[0])), T(kw_compose_integer(c, c->dtype, 0)));
  return c->status;
}

kw_status kw_decompose_logical_and(kw_composition *c, const kw_value *args, kw_tensor **outs) {
  kw_tensor *a = kw_compose_not(c, is_zero(c, &args[0])), *b = kw_compose_not(c, is_zero(c, &args[1]));
  KW_INTO(c, outs[0], "bitwise_and.Tensor", T(a), T(b));
  return c->status;
}

kw_status kw_decompose_logical_or(kw_composition *c, const kw_value *args, kw_tensor **outs) {
  put_not(c, outs[0], kw_compose_and(c, is_zero(c, &args[0]), is_zero(c, &args[1])));
  return c->status;
}

kw_status kw_decompose_logical_xor(kw_composition *c, const kw_value *args, kw_tensor **outs) {
  kw_tensor *a = is_zero(c, &args[0]), *b = is_zero(c, &args[1]);
  put_not(c, outs[0], equal(c, a, b));
  return c->status;
}

/* -1 - x, which is every bit turned. */
kw_status kw_decompose_bitwise_not(kw_composition *c, const kw_value *args, kw_tensor **outs) {
  kw_tensor *x = kw_compose_arg(c, &args[0]);
  if (c->key == KW_BOOL) {
    put_not(c, outs[0], x);
  } else {
    KW_INTO(c, outs[0], "add.Tensor", T(kw_compose_integer(c, c->dtype, -1)), T(x), kw_arg_scalar_i64(-1));
  }
  return c->status;
}

/* a + b - (a & b), and for xor - (a & b) once more: in two's complement no carry is left. */
static kw_status bits(kw_composition *c, const kw_value *args, kw_tensor **outs, int64_t shared) {
  kw_tensor *a = kw_compose_arg(c, &args[0]), *b = kw_compose_arg(c, &args[1]);
  if (c->key == KW_BOOL && shared == 2) {
    put_not(c, outs[0], equal(c, a, b));
  } else if (c->key == KW_BOOL) { /* a sum of bool is an or */
    KW_INTO(c, outs[0], "add.Tensor", T(a), T(b));
  } else {
    KW_INTO(c, outs[0], "add.Tensor", T(kw_compose_sum(c, a, b)), T(kw_compose_and(c, a, b)),
            kw_arg_scalar_i64(-shared));
  }
  return c->status;
}

kw_status kw_decompose_bitwise_or(kw_composition *c, const kw_value *args, kw_tensor **outs) {
  return bits(c, args, outs, 1);
}

kw_status kw_decompose_bitwise_xor(kw_composition *c, const kw_value *args, kw_tensor **outs) {
  return bits(c, args, outs, 2);
}

/* ---- Roots ------------------------------------------------------------------------------------------------------- */

/* The power of a half, but for zeros, whose sign stays, and negative numbers, infinity among them. */
kw_status kw_decompose_sqrt(kw_composition *c, const kw_value *args, kw_tensor **outs) {
  kw_tensor *x = kw_compose_arg(c, &args[0]), *zero = kw_compose_integer(c, c->dtype, 0);
  kw_tensor *power = KW_OP(c, "pow.Tensor_Tensor", T(x), T(kw_compose_real(c, 0.5)));
  kw_tensor *below = kw_compose_where(c, kw_compose_le(c, zero, x), x, kw_compose_real(c, NAN));
  KW_INTO(c, outs[0], "where.self", T(kw_compose_le(c, x, zero)), T(below), T(power));
  return c->status;
}

kw_status kw_decompose_rsqrt(kw_composition *c, const kw_value *args, kw_tensor **outs) {
  kw_tensor *root = KW_OP(c, "sqrt", T(kw_compose_arg(c, &args[0])));
  KW_INTO(c, outs[0], "div.Tensor", T(kw_compose_real(c, 1)), T(root));
  return c->status;
}
