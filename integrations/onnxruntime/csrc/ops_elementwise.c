/* SPDX-License-Identifier: Apache-2.0
 *
 * Operators on elements, as far as a row of mapping.def does not say them.
 */
#include <string.h>

#include "ops.h"

/* ---- u64 --------------------------------------------------------------------------------------------------------- */

static bool of_u64(run *run) {
  const value *raw = run_raw_input(run, 0);
  return raw && raw->ref.dtype == KW_U64;
}

/* Numbers of u64 in the order of i64: with their first bit turned round. Turned again they are what they were. */
static value *turned(run *run, const value *of) {
  return CALL(run, "bitwise_xor.Scalar", arg(of), kw_arg_scalar_i64(INT64_MIN));
}

static value *not_below(run *run, const value *a, const value *b) {
  return run_cast(run, CALL(run, "ge.Tensor", arg(turned(run, a)), arg(turned(run, b))), KW_I64);
}

/* a / b: twice the quotient of a's half, and one more where as much is left. What has its first bit set goes at most
 * once. */
static value *quotient(run *run, const value *a, const value *b) {
  const value *half = CALL(run, "bitwise_right_shift.Tensor_Scalar", arg(a), kw_arg_scalar_i64(1)), *twice, *rest,
              *large;
  half = CALL(run, "bitwise_and.Scalar", arg(half), kw_arg_scalar_i64(INT64_MAX));
  twice = CALL(run, "div.Tensor_mode", arg(half), arg(b), kw_arg_string("trunc"));
  twice = CALL(run, "mul.Scalar", arg(twice), kw_arg_scalar_i64(2));
  rest = CALL(run, "sub.Tensor", arg(a), arg(CALL(run, "mul.Tensor", arg(twice), arg(b))));
  twice = CALL(run, "add.Tensor", arg(twice), arg(not_below(run, rest, b)));
  large = CALL(run, "lt.Scalar", arg(b), kw_arg_scalar_i64(0));
  return CALL(run, "where.self", arg(large), arg(not_below(run, a, b)), arg(twice));
}

bool op_div_u64(run *run) {
  return run_put(run, 0, quotient(run, run_input(run, 0), run_input(run, 1)));
}

bool op_mod_u64(run *run) {
  const value *a = run_input(run, 0), *b = run_input(run, 1);
  return CALL_TO(run, 0, "sub.Tensor", arg(a), arg(CALL(run, "mul.Tensor", arg(quotient(run, a, b)), arg(b))));
}

/* ------------------------------------------------------------------------------------------------------------------ */

bool op_mod(run *run) {
  const char *op = node_int(run->node, "fmod", 0) ? "fmod.Tensor" : "remainder.Tensor";
  return CALL_TO(run, 0, op, arg(run_input(run, 0)), arg(run_input(run, 1)));
}

bool op_pow(run *run) {
  const value *base = run_input(run, 0), *exponent = run_input(run, 1);
  if (!base || !exponent) return run_refuse(run, "an input is missing");
  if (kw_dtype_promote(base->ref.dtype, exponent->ref.dtype) == base->ref.dtype)
    return CALL_TO(run, 0, "pow.Tensor_Tensor", arg(base), arg(run_cast(run, exponent, base->ref.dtype)));
  return run_put(run, 0, run_cast(run, CALL(run, "pow.Tensor_Tensor", arg(base), arg(exponent)), base->ref.dtype));
}

/* Any number of inputs, two at a time. */
static bool fold(run *run, const char *op) {
  const value *sum = run_input(run, 0);
  for (unsigned i = 1; i + 1 < run->input_count; ++i) sum = CALL(run, op, arg(sum), arg(run_input(run, i)));
  if (!sum) return run_refuse(run, "an input is missing");
  if (run->input_count == 1) return run_put(run, 0, sum);
  return CALL_TO(run, 0, op, arg(sum), arg(run_input(run, run->input_count - 1)));
}

bool op_sum(run *run) {
  return fold(run, "add.Tensor");
}

static bool extreme(run *run, const char *op) {
  const bool unsigned64 = of_u64(run);
  const value *most;
  if (!unsigned64) return fold(run, op);
  most = turned(run, run_input(run, 0));
  for (unsigned i = 1; i < run->input_count; ++i) most = CALL(run, op, arg(most), arg(turned(run, run_input(run, i))));
  return run_put(run, 0, turned(run, most));
}

bool op_max(run *run) {
  return extreme(run, "maximum");
}

bool op_min(run *run) {
  return extreme(run, "minimum");
}

bool op_mean(run *run) {
  const value *sum = run_input(run, 0);
  for (unsigned i = 1; i < run->input_count; ++i) sum = CALL(run, "add.Tensor", arg(sum), arg(run_input(run, i)));
  return sum && CALL_TO(run, 0, "div.Scalar", arg(sum), kw_arg_scalar_f64(run->input_count));
}

bool op_clip(run *run) {
  const value *of = run_input(run, 0), *least = run_input(run, 1), *most = run_input(run, 2);
  if (!least && !most) return run_put(run, 0, of);
  return CALL_TO(run, 0, "clamp.Tensor", arg(of), arg(least), arg(most));
}

bool op_celu(run *run) {
  const double alpha = node_float(run->node, "alpha", 1);
  return CALL_TO(run, 0, "elu", arg(run_input(run, 0)), kw_arg_scalar_f64(alpha), kw_arg_scalar_f64(1),
                 kw_arg_scalar_f64(1 / alpha));
}

/* x + bias below -lambd, x - bias above lambd, 0 between. */
bool op_shrink(run *run) {
  const double lambd = node_float(run->node, "lambd", 0.5), bias = node_float(run->node, "bias", 0);
  const value *x = run_input(run, 0);
  const value *zero = CALL(run, "full_like", arg(x), kw_arg_scalar_i64(0));
  const value *below = CALL(run, "add.Scalar", arg(x), kw_arg_scalar_f64(bias));
  const value *above = CALL(run, "sub.Scalar", arg(x), kw_arg_scalar_f64(bias));
  const value *inner =
      CALL(run, "where.self", arg(CALL(run, "gt.Scalar", arg(x), kw_arg_scalar_f64(lambd))), arg(above), arg(zero));
  inner =
      CALL(run, "where.self", arg(CALL(run, "lt.Scalar", arg(x), kw_arg_scalar_f64(-lambd))), arg(below), arg(inner));
  return run_put(run, 0, run_cast(run, inner, x ? x->ref.dtype : KW_F32));
}

/* 1 where the first of the largest is. */
bool op_hardmax(run *run) {
  const value *x = run_input(run, 0), *largest, *places;
  unsigned axis;
  int64_t shape[KW_MAX_RANK];
  if (!x || !run_axis(run, node_int(run->node, "axis", -1), x->ref.rank, &axis)) return false;
  largest = CALL(run, "argmax", arg(x), kw_arg_int(axis), kw_arg_bool(true));
  for (unsigned d = 0; d < x->ref.rank; ++d) shape[d] = d == axis ? x->ref.shape[d] : 1;
  places = run_reshape(run, run_range(run, x->ref.shape[axis]), x->ref.rank, shape);
  return run_put(run, 0, run_cast(run, CALL(run, "eq.Tensor", arg(places), arg(largest)), x->ref.dtype));
}

bool op_is_inf(run *run) {
  const bool negative = node_int(run->node, "detect_negative", 1), positive = node_int(run->node, "detect_positive", 1);
  const value *x = run_input(run, 0), *infinite;
  if (negative && positive) return CALL_TO(run, 0, "isinf", arg(x));
  infinite = CALL(run, "isinf", arg(x));
  if (!negative && !positive) return CALL_TO(run, 0, "logical_xor", arg(infinite), arg(infinite));
  return CALL_TO(run, 0, "logical_and", arg(infinite),
                 arg(CALL(run, positive ? "gt.Scalar" : "lt.Scalar", arg(x), kw_arg_scalar_i64(0))));
}

bool op_bit_shift(run *run) {
  const bool left = strcmp(node_text(run->node, "direction", ""), "LEFT") == 0;
  if (!left && of_u64(run)) {
    const value *x = run_input(run, 0), *by = run_input(run, 1), *mask;
    mask =
        CALL(run, "full_like", arg(x), kw_arg_scalar_i64(INT64_MAX)); /* of the bits that are no copies of the first */
    mask = CALL(run, "bitwise_right_shift.Tensor", arg(mask), arg(by));
    mask = CALL(run, "add.Scalar", arg(CALL(run, "mul.Scalar", arg(mask), kw_arg_scalar_i64(2))), kw_arg_scalar_i64(1));
    return CALL_TO(run, 0, "bitwise_and.Tensor", arg(CALL(run, "bitwise_right_shift.Tensor", arg(x), arg(by))),
                   arg(mask));
  }
  return CALL_TO(run, 0, left ? "bitwise_left_shift.Tensor" : "bitwise_right_shift.Tensor", arg(run_input(run, 0)),
                 arg(run_input(run, 1)));
}

/* ---- Casts and copies -------------------------------------------------------------------------------------------- */

/* What a float of 8 bits would not hold becomes the largest that it does, unless the node says otherwise. */
static const value *saturated(run *run, const value *of, kw_dtype dtype) {
  const double most = dtype == KW_F8E4M3FN ? 448 : 57344;
  if ((dtype != KW_F8E4M3FN && dtype != KW_F8E5M2) || !node_int(run->node, "saturate", 1)) return of;
  return CALL(run, "clamp", arg(of), kw_arg_scalar_f64(-most), kw_arg_scalar_f64(most));
}

static bool cast_to(run *run, kw_dtype dtype) {
  const value *of = saturated(run, run_input(run, 0), dtype);
  if (dtype == KW_U64) return run_refuse(run, "a cast to u64");
  if (dtype == KW_DTYPE_NONE) return run_refuse(run, "a type that Keyway does not have");
  if (run_widened(dtype) != dtype || (of && of->ref.dtype == dtype))
    return run_put(run, 0, run_cast(run, of, run_widened(dtype)));
  return CALL_TO(run, 0, "_to_copy", arg(of), kw_arg_dtype(dtype));
}

bool op_cast(run *run) {
  return cast_to(run, node_dtype_of((ONNXTensorElementDataType)node_int(run->node, "to", 0)));
}

bool op_cast_like(run *run) {
  const value *like = run_input(run, 1);
  return like && cast_to(run, like->ref.dtype);
}

/* The same bits, for a dtype of the same size. */
bool op_bit_cast(run *run) {
  const kw_dtype dtype = node_dtype_of((ONNXTensorElementDataType)node_int(run->node, "to", 0));
  const value *of = run_raw_input(run, 0);
  value *to;
  if (!of || kw_dtype_size(of->ref.dtype) != kw_dtype_size(dtype)) return run_refuse(run, "dtypes of two sizes");
  to = run_output(run, 0, dtype, of->ref.rank, of->ref.shape);
  return to && run_copy(run, run_bits(run, to), run_bits(run, of));
}

bool op_identity(run *run) {
  return run_put(run, 0, run_input(run, 0));
}

/* Outside of training, and with a ratio of 0, it passes its input on. */
bool op_dropout(run *run) {
  const value *x = run_input(run, 0);
  double training = 0, ratio = 0.5;
  if (run_has_ints(run, 2) && !run_number(run, 2, &training))
    return run_refuse(run, "training_mode is not known before it runs");
  if (training != 0 && run_has_ints(run, 1) && !run_number(run, 1, &ratio))
    return run_refuse(run, "its ratio is not known before it runs");
  if (training != 0 && ratio != 0) return run_refuse(run, "training_mode: the random numbers would be others");
  if (!run_put(run, 0, x)) return false;
  return !run_wants(run, 1) || CALL_TO(run, 1, "full_like", arg(x), kw_arg_scalar_bool(true), kw_arg_dtype(KW_BOOL));
}
