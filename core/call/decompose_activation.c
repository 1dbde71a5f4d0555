/* SPDX-License-Identifier: Apache-2.0
 *
 * Decompositions of activations, their gradients, and pointwise ops of several tensors.
 */
#include "call/decompose.h"

#include "base/dtype.h"
#include "base/scalar.h"
#include "call/value.h"

#include <math.h>

static kw_tensor *one(kw_composition *c) {
  return kw_compose_real(c, 1);
}

static kw_tensor *zero(kw_composition *c) {
  return kw_compose_integer(c, c->dtype, 0);
}

/* ---- Whole numbers ----------------------------------------------------------------------------------------------- */

static kw_tensor *truncated(kw_composition *c, kw_tensor *x) {
  return KW_OP(c, "div.Tensor_mode", T(x), T(kw_compose_integer(c, c->dtype, 1)), kw_arg_string("trunc"));
}

kw_status kw_decompose_trunc(kw_composition *c, const kw_value *args, kw_tensor **outs) {
  KW_INTO(c, outs[0], "div.Tensor_mode", T(kw_compose_arg(c, &args[0])), T(kw_compose_integer(c, c->dtype, 1)),
          kw_arg_string("trunc"));
  return c->status;
}

kw_status kw_decompose_floor(kw_composition *c, const kw_value *args, kw_tensor **outs) {
  kw_tensor *x = kw_compose_arg(c, &args[0]), *whole = truncated(c, x);
  kw_tensor *below = kw_compose_difference(c, whole, kw_compose_integer(c, c->dtype, 1));
  KW_INTO(c, outs[0], "where.self", T(kw_compose_le(c, whole, x)), T(whole), T(below));
  return c->status;
}

kw_status kw_decompose_ceil(kw_composition *c, const kw_value *args, kw_tensor **outs) {
  kw_tensor *x = kw_compose_arg(c, &args[0]), *whole = truncated(c, x);
  kw_tensor *above = kw_compose_sum(c, whole, kw_compose_integer(c, c->dtype, 1));
  KW_INTO(c, outs[0], "where.self", T(kw_compose_le(c, x, whole)), T(whole), T(above));
  return c->status;
}

/* Whether it is not at most 0, less whether it is not at least 0: NaN is neither, and gives 0. */
kw_status kw_decompose_sign(kw_composition *c, const kw_value *args, kw_tensor **outs) {
  kw_tensor *x = kw_compose_arg(c, &args[0]), *nothing = zero(c);
  kw_tensor *above = kw_compose_cast(c, kw_compose_not(c, kw_compose_le(c, x, nothing)), c->dtype);
  kw_tensor *below =
      c->status == KW_OK ? kw_compose_cast(c, kw_compose_not(c, kw_compose_le(c, nothing, x)), c->dtype) : NULL;
  KW_INTO(c, outs[0], "add.Tensor", T(above), T(below), kw_arg_scalar_i64(c->dtype == KW_BOOL ? 0 : -1));
  return c->status;
}

kw_status kw_decompose_isnan(kw_composition *c, const kw_value *args, kw_tensor **outs) {
  kw_tensor *x = kw_compose_arg(c, &args[0]);
  KW_INTO(c, outs[0], "le.Tensor", T(kw_compose_le(c, x, x)), T(kw_compose_integer(c, KW_BOOL, 0)));
  return c->status;
}

kw_status kw_decompose_reciprocal(kw_composition *c, const kw_value *args, kw_tensor **outs) {
  KW_INTO(c, outs[0], "div.Tensor", T(one(c)), T(kw_compose_arg(c, &args[0])));
  return c->status;
}

/* ---- Of several tensors ------------------------------------------------------------------------------------------ */

/* args: self, tensor1, tensor2, value. */
kw_status kw_decompose_addcmul(kw_composition *c, const kw_value *args, kw_tensor **outs) {
  kw_tensor *x = kw_compose_arg(c, &args[0]);
  kw_tensor *scaled = kw_compose_product(c, kw_compose_arg(c, &args[3]), kw_compose_arg(c, &args[1]));
  KW_INTO(c, outs[0], "add.Tensor", T(x), T(kw_compose_product(c, scaled, kw_compose_arg(c, &args[2]))));
  return c->status;
}

kw_status kw_decompose_addcdiv(kw_composition *c, const kw_value *args, kw_tensor **outs) {
  kw_tensor *x = kw_compose_arg(c, &args[0]);
  kw_tensor *scaled = kw_compose_product(c, kw_compose_arg(c, &args[3]), kw_compose_arg(c, &args[1]));
  KW_INTO(c, outs[0], "add.Tensor", T(x), T(kw_compose_quotient(c, scaled, kw_compose_arg(c, &args[2]))));
  return c->status;
}

/* From the nearer end. args: self, end, weight, a number. */
kw_status kw_decompose_lerp(kw_composition *c, const kw_value *args, kw_tensor **outs) {
  kw_tensor *from = kw_compose_arg(c, &args[0]), *to = kw_compose_arg(c, &args[1]),
            *way = kw_compose_difference(c, to, from);
  const double weight = kw_scalar_real(&args[2]);
  const bool near = fabs(weight) < 0.5;
  kw_tensor *part = kw_compose_product(
      c, way, near ? kw_compose_arg(c, &args[2]) : kw_compose_difference(c, one(c), kw_compose_arg(c, &args[2])));
  KW_INTO(c, outs[0], "add.Tensor", T(near ? from : to), T(part), kw_arg_scalar_i64(near ? 1 : -1));
  return c->status;
}

/* ---- Activations ------------------------------------------------------------------------------------------------- */

static kw_tensor *logistic_divisor(kw_composition *c, kw_tensor *x) {
  kw_tensor *negative = kw_compose_product(c, x, kw_compose_real(c, -1));
  return kw_compose_sum(c, one(c), KW_OP(c, "exp", T(negative)));
}

/* 1 / (1 + exp(-x)) */
static kw_tensor *logistic(kw_composition *c, kw_tensor *x) {
  return kw_compose_quotient(c, one(c), logistic_divisor(c, x));
}

kw_status kw_decompose_sigmoid(kw_composition *c, const kw_value *args, kw_tensor **outs) {
  KW_INTO(c, outs[0], "div.Tensor", T(one(c)), T(logistic_divisor(c, kw_compose_arg(c, &args[0]))));
  return c->status;
}

/* Not x / (1 + exp(-x)), which would lose -infinity * 0. */
kw_status kw_decompose_silu(kw_composition *c, const kw_value *args, kw_tensor **outs) {
  kw_tensor *x = kw_compose_arg(c, &args[0]);
  KW_INTO(c, outs[0], "mul.Tensor", T(x), T(logistic(c, x)));
  return c->status;
}

/* coefficients[0] + x * (coefficients[1] + ...) */
static kw_tensor *polynomial(kw_composition *c, kw_tensor *x, const double *coefficients, uint32_t count) {
  kw_tensor *sum = kw_compose_real(c, coefficients[count - 1]);
  for (uint32_t i = count - 1; i-- > 0;) {
    sum = kw_compose_sum(c, kw_compose_real(c, coefficients[i]), kw_compose_product(c, sum, x));
  }
  return sum;
}

/* The share of the normal distribution beyond |x|: exp(-x^2 / 2) * s * P(s), s = 1 / (1 + 0.33 |x| / sqrt(2)). P is of
 * degree 7, a weighted least-squares fit of exp(t^2) erfc(t) / 2 on t in [0, 10.2] that levels the relative error,
 * which is below 1.1e-7. */
static kw_tensor *normal_tail(kw_composition *c, kw_tensor *x) {
  static const double fit[] = {0.093176431953907, 0.091513454914093, 0.100401602685451, 0.024277161806822,
                               0.203026920557022, -0.17427434027195, 0.229374572634697, -0.067495793104172};
  kw_tensor *scaled = kw_compose_product(c, kw_compose_magnitude(c, x, NULL), kw_compose_real(c, 0.33 * sqrt(0.5)));
  kw_tensor *s = kw_compose_quotient(c, one(c), kw_compose_sum(c, scaled, one(c)));
  kw_tensor *square = kw_compose_product(c, x, x);
  kw_tensor *fall = KW_OP(c, "exp", T(kw_compose_product(c, square, kw_compose_real(c, -0.5))));
  kw_tensor *rest = kw_compose_product(c, s, polynomial(c, s, fit, sizeof fit / sizeof *fit));
  return kw_compose_product(c, fall, rest);
}

/* The share of the normal distribution below x, from its own side: in the tail 1 + erf would cancel. */
static kw_tensor *normal_share(kw_composition *c, kw_tensor *x) {
  kw_tensor *tail = normal_tail(c, x), *below = kw_compose_le(c, x, zero(c));
  kw_tensor *rest = kw_compose_difference(c, one(c), tail);
  return kw_compose_where(c, below, tail, rest);
}

/* With 'tanh' the share is a sigmoid. */
kw_status kw_decompose_gelu(kw_composition *c, const kw_value *args, kw_tensor **outs) {
  kw_tensor *x = kw_compose_arg(c, &args[0]), *share;
  if (args[1].tag == KW_TAG_STRING && args[1].u.s[0] == 't') {
    static const double cubic[] = {1.5957691216057308, 0.071354816272600248}; /* 2 sqrt(2 / pi) (1, 0.044715) */
    kw_tensor *square = kw_compose_product(c, x, x);
    kw_tensor *u = kw_compose_product(c, x, polynomial(c, square, cubic, 2));
    share = logistic(c, u);
  } else {
    share = normal_share(c, x);
  }
  KW_INTO(c, outs[0], "mul.Tensor", T(x), T(share));
  return c->status;
}

kw_status kw_decompose_leaky_relu(kw_composition *c, const kw_value *args, kw_tensor **outs) {
  kw_tensor *x = kw_compose_arg(c, &args[0]);
  kw_tensor *leak = kw_compose_product(c, x, kw_compose_arg(c, &args[1]));
  KW_INTO(c, outs[0], "where.self", T(kw_compose_le(c, x, zero(c))), T(leak), T(x));
  return c->status;
}

kw_status kw_decompose_threshold(kw_composition *c, const kw_value *args, kw_tensor **outs) {
  kw_tensor *x = kw_compose_arg(c, &args[0]);
  kw_tensor *below = kw_compose_le(c, x, kw_compose_arg(c, &args[1]));
  KW_INTO(c, outs[0], "where.self", T(below), T(kw_compose_arg(c, &args[2])), T(x));
  return c->status;
}

/* From 3 on x itself, whose product with 6 could overflow. */
kw_status kw_decompose_hardswish(kw_composition *c, const kw_value *args, kw_tensor **outs) {
  kw_tensor *x = kw_compose_arg(c, &args[0]), *three = kw_compose_real(c, 3);
  kw_tensor *share =
      kw_compose_quotient(c, KW_OP(c, "maximum", T(kw_compose_sum(c, x, three)), T(zero(c))), kw_compose_real(c, 6));
  KW_INTO(c, outs[0], "where.self", T(kw_compose_le(c, three, x)), T(x), T(kw_compose_product(c, x, share)));
  return c->status;
}

/* exp(x) - 1 without cancelling: (e - 1) x / log(e) for e = exp(x), which errs as e does above and below (Kahan). */
static kw_tensor *exp_less_one(kw_composition *c, kw_tensor *x) {
  kw_tensor *power = KW_OP(c, "exp", T(x)), *change = kw_compose_difference(c, power, one(c));
  kw_tensor *mended = kw_compose_product(c, change, kw_compose_quotient(c, x, KW_OP(c, "log", T(power))));
  kw_tensor *far = kw_compose_le(c, change, kw_compose_real(c, -0.75)); /* log(e) may be that of 0 */
  kw_tensor *above = kw_compose_le(c, kw_compose_real(c, 1), change);   /* and of infinity */
  kw_tensor *none = KW_OP(c, "eq.Tensor", T(power), T(one(c)));
  mended = kw_compose_where(c, far, change, kw_compose_where(c, above, change, mended));
  return kw_compose_where(c, none, x, mended);
}

/* args: self, alpha, scale, input_scale. */
kw_status kw_decompose_elu(kw_composition *c, const kw_value *args, kw_tensor **outs) {
  kw_tensor *x = kw_compose_arg(c, &args[0]), *nothing = zero(c);
  const double scale = kw_scalar_real(&args[2]), below = kw_scalar_real(&args[1]) * scale;
  kw_tensor *low = KW_OP(c, "minimum", T(x), T(nothing)); /* exp of what is above could overflow */
  kw_tensor *bent = kw_compose_product(c, exp_less_one(c, kw_compose_product(c, low, kw_compose_arg(c, &args[3]))),
                                       kw_compose_real(c, below));
  kw_tensor *straight = kw_compose_product(c, x, kw_compose_real(c, scale));
  KW_INTO(c, outs[0], "where.self", T(kw_compose_le(c, nothing, x)), T(straight), T(bent));
  return c->status;
}

/* ---- Gradients --------------------------------------------------------------------------------------------------- */

kw_status kw_decompose_sigmoid_backward(kw_composition *c, const kw_value *args, kw_tensor **outs) {
  kw_tensor *grad = kw_compose_arg(c, &args[0]), *y = kw_compose_arg(c, &args[1]);
  KW_INTO(c, outs[0], "mul.Tensor", T(kw_compose_product(c, grad, kw_compose_difference(c, one(c), y))), T(y));
  return c->status;
}

kw_status kw_decompose_tanh_backward(kw_composition *c, const kw_value *args, kw_tensor **outs) {
  kw_tensor *grad = kw_compose_arg(c, &args[0]), *y = kw_compose_arg(c, &args[1]);
  KW_INTO(c, outs[0], "mul.Tensor", T(grad), T(kw_compose_difference(c, one(c), kw_compose_product(c, y, y))));
  return c->status;
}

kw_status kw_decompose_silu_backward(kw_composition *c, const kw_value *args, kw_tensor **outs) {
  kw_tensor *grad = kw_compose_arg(c, &args[0]), *x = kw_compose_arg(c, &args[1]), *s = logistic(c, x);
  kw_tensor *rest = kw_compose_sum(c, one(c), kw_compose_product(c, x, kw_compose_difference(c, one(c), s)));
  KW_INTO(c, outs[0], "mul.Tensor", T(grad), T(kw_compose_product(c, s, rest)));
  return c->status;
}

/* s (1 + x (1 - s) u') for gelu's tanh form, x s(u). */
static kw_tensor *gelu_tanh_slope(kw_composition *c, kw_tensor *x) {
  const double twice = 1.5957691216057308, cubic = 0.044715; /* 2 sqrt(2 / pi) */
  kw_tensor *square = kw_compose_product(c, x, x);
  kw_tensor *u =
      kw_compose_product(c, kw_compose_product(c, x, kw_compose_real(c, twice)),
                         kw_compose_sum(c, one(c), kw_compose_product(c, square, kw_compose_real(c, cubic))));
  kw_tensor *s = logistic(c, u), *other = logistic(c, kw_compose_product(c, u, kw_compose_real(c, -1)));
  kw_tensor *slope =
      kw_compose_product(c, kw_compose_sum(c, one(c), kw_compose_product(c, square, kw_compose_real(c, 3 * cubic))),
                         kw_compose_real(c, twice));
  return kw_compose_sum(c, s, kw_compose_product(c, kw_compose_product(c, kw_compose_product(c, x, slope), s), other));
}

/* args: grad_output, self, approximate. */
kw_status kw_decompose_gelu_backward(kw_composition *c, const kw_value *args, kw_tensor **outs) {
  kw_tensor *grad = kw_compose_arg(c, &args[0]), *x = kw_compose_arg(c, &args[1]), *slope;
  if (args[2].tag == KW_TAG_STRING && args[2].u.s[0] == 't') {
    slope = gelu_tanh_slope(c, x);
  } else {
    kw_tensor *half_square = kw_compose_product(c, kw_compose_product(c, x, x), kw_compose_real(c, -0.5));
    kw_tensor *density = kw_compose_product(c, KW_OP(c, "exp", T(half_square)), kw_compose_real(c, 0.3989422804014327));
    slope = kw_compose_sum(c, normal_share(c, x), kw_compose_product(c, x, density));
  }
  KW_INTO(c, outs[0], "mul.Tensor", T(grad), T(slope));
  return c->status;
}

kw_status kw_decompose_threshold_backward(kw_composition *c, const kw_value *args, kw_tensor **outs) {
  kw_tensor *grad = kw_compose_arg(c, &args[0]), *x = kw_compose_arg(c, &args[1]);
  KW_INTO(c, outs[0], "where.self", T(kw_compose_le(c, x, kw_compose_arg(c, &args[2]))), T(zero(c)), T(grad));
  return c->status;
}

kw_status kw_decompose_leaky_relu_backward(kw_composition *c, const kw_value *args, kw_tensor **outs) {
  kw_tensor *grad = kw_compose_arg(c, &args[0]), *x = kw_compose_arg(c, &args[1]);
  kw_tensor *leak = kw_compose_product(c, grad, kw_compose_arg(c, &args[2]));
  KW_INTO(c, outs[0], "where.self", T(KW_OP(c, "lt.Tensor", T(zero(c)), T(x))), T(grad), T(leak));
  return c->status;
}

kw_status kw_decompose_hardtanh_backward(kw_composition *c, const kw_value *args, kw_tensor **outs) {
  kw_tensor *grad = kw_compose_arg(c, &args[0]), *x = kw_compose_arg(c, &args[1]), *nothing = zero(c);
  kw_tensor *above = kw_compose_where(c, kw_compose_le(c, kw_compose_arg(c, &args[3]), x), nothing, grad);
  KW_INTO(c, outs[0], "where.self", T(kw_compose_le(c, x, kw_compose_arg(c, &args[2]))), T(nothing), T(above));
  return c->status;
}

/* ---- Losses ------------------------------------------------------------------------------------------------------ */

enum { MEAN = 1 };

/* args: self, target, reduction. */
kw_status kw_decompose_mse_loss(kw_composition *c, const kw_value *args, kw_tensor **outs) {
  kw_tensor *distance = kw_compose_difference(c, kw_compose_arg(c, &args[0]), kw_compose_arg(c, &args[1]));
  if (args[2].u.i == 0) {
    KW_INTO(c, outs[0], "mul.Tensor", T(distance), T(distance));
    return c->status;
  }
  kw_tensor *square = kw_compose_product(c, distance, distance);
  if (!square) return c->status;
  const kw_value sum[] = {T(square), kw_arg_none(), kw_arg_bool(false)};
  if (args[2].u.i != MEAN) {
    kw_compose_into(c, outs[0], "sum.dim_IntList", 3, sum);
  } else {
    kw_tensor *count = kw_compose_real(c, (double)square->ref.numel);
    KW_INTO(c, outs[0], "div.Tensor", T(kw_compose_op(c, "sum.dim_IntList", 3, sum)), T(count));
  }
  return c->status;
}

/* args: grad_output, self, target, reduction. */
kw_status kw_decompose_mse_loss_backward(kw_composition *c, const kw_value *args, kw_tensor **outs) {
  kw_tensor *distance = kw_compose_difference(c, kw_compose_arg(c, &args[1]), kw_compose_arg(c, &args[2]));
  const double count = args[3].u.i == MEAN ? (double)outs[0]->ref.numel : 1;
  kw_tensor *part =
      kw_compose_quotient(c, kw_compose_product(c, distance, kw_compose_real(c, 2)), kw_compose_real(c, count));
  KW_INTO(c, outs[0], "mul.Tensor", T(part), T(kw_compose_arg(c, &args[0])));
  return c->status;
}
