/* SPDX-License-Identifier: Apache-2.0
 *
 * Element-wise ops: each element is computed from those of the same position.
 */
#include "kernel_sources.h"
#include "lower/scalar.h"
#include "ops/families.h"
#include "program/dtype.h"

#include <math.h>

/* A program for each kernel: what a first call waits for is what the driver compiles for it. */
static const kw_gpu_module unary_module = {
    "unary", KW_GPU_RUNS_BY_DTYPE, KW_DTYPES_REAL | KW_GPU_PACKS, {kw_gpu_source_unary}};
static const kw_gpu_module function_module = {
    "function",
    KW_GPU_RUNS_BY_DTYPE,
    KW_DTYPES_FLOAT,
    {kw_gpu_source_sigmoid, kw_gpu_source_expm1, kw_gpu_source_normal, kw_gpu_source_wave, kw_gpu_source_function}};
static const kw_gpu_module binary_module = {
    "binary", KW_GPU_RUNS_BY_DTYPE, KW_DTYPES_REAL | KW_GPU_PACKS, {kw_gpu_source_pair, kw_gpu_source_binary}};
static const kw_gpu_module quotient_module = {
    "quotient", KW_GPU_RUNS_BY_DTYPE, KW_DTYPES_NUM | KW_GPU_PACKS, {kw_gpu_source_pair, kw_gpu_source_quotient}};
static const kw_gpu_module power_module = {
    "power", KW_GPU_RUNS_BY_DTYPE, KW_DTYPES_NUM, {kw_gpu_source_pair, kw_gpu_source_power}};
static const kw_gpu_module compare_module = {
    "compare", KW_GPU_RUNS_BY_DTYPE, KW_DTYPES_REAL | KW_GPU_PACKS, {kw_gpu_source_compare}};
static const kw_gpu_module clamp_module = {
    "clamp", KW_GPU_RUNS_BY_DTYPE, KW_DTYPES_NUM | KW_GPU_PACKS, {kw_gpu_source_clamp}};
static const kw_gpu_module fused_module = {
    "fused", KW_GPU_RUNS_BY_DTYPE, KW_DTYPES_NUM | KW_GPU_PACKS, {kw_gpu_source_fused}};
static const kw_gpu_module arange_module = {"arange", KW_GPU_RUNS_BY_DTYPE, KW_DTYPES_NUM, {kw_gpu_source_arange}};

static const kw_gpu_kernel unary_kernel = {&unary_module, "kw_unary_kernel"};
static const kw_gpu_kernel function_kernel = {&function_module, "kw_function_kernel"};
static const kw_gpu_kernel binary_kernel = {&binary_module, "kw_binary_kernel"};
static const kw_gpu_kernel quotient_kernel = {&quotient_module, "kw_quotient_kernel"};
static const kw_gpu_kernel power_kernel = {&power_module, "kw_power_kernel"};
static const kw_gpu_kernel compare_kernel = {&compare_module, "kw_compare_kernel"};
static const kw_gpu_kernel clamp_kernel = {&clamp_module, "kw_clamp_kernel"};
static const kw_gpu_kernel fused_kernel = {&fused_module, "kw_fused_kernel"};
static const kw_gpu_kernel arange_kernel = {&arange_module, "kw_arange_kernel"};

static void lower_unary(kw_gpu_plan *plan, const kw_gpu_op *op) {
  kw_gpu_tensor out = kw_gpu_output(plan, 0), in = kw_gpu_input(plan, 0);
  kw_gpu_step *step =
      kw_gpu_step_elementwise(plan, &unary_kernel, out.ref.dtype, &out, (const kw_gpu_tensor *[]){&in}, 1);
  kw_gpu_step_int(step, op->code);
}

static void function(kw_gpu_plan *plan, int32_t opcode) {
  kw_gpu_tensor out = kw_gpu_output(plan, 0), in = kw_gpu_input(plan, 0);
  kw_gpu_step *step =
      kw_gpu_step_elementwise(plan, &function_kernel, out.ref.dtype, &out, (const kw_gpu_tensor *[]){&in}, 1);
  kw_gpu_step_opcode(step, opcode);
}

static void lower_function(kw_gpu_plan *plan, const kw_gpu_op *op) {
  function(plan, op->code);
}

static void lower_gelu(kw_gpu_plan *plan, const kw_gpu_op *op) {
  bool tanh_form = kw_gpu_choice(plan, 1, (const char *[]){"none", "tanh", NULL}) == 1;
  function(plan, tanh_form ? KW_FUNCTION_GELU_TANH : op->code);
}

/* The head that binary ops and comparisons share: operands a and b, either of them a Scalar. */
static kw_gpu_step *pair(kw_gpu_plan *plan, const kw_gpu_kernel *kernel, kw_dtype dtype, int32_t opcode) {
  kw_gpu_tensor out = kw_gpu_output(plan, 0), a = kw_gpu_input(plan, 0), b = kw_gpu_input(plan, 1);
  int32_t scalars = (kw_gpu_present(&a) ? 0 : KW_SCALAR_A) | (kw_gpu_present(&b) ? 0 : KW_SCALAR_B);
  kw_gpu_step *step = kw_gpu_step_elementwise(plan, kernel, dtype, &out, (const kw_gpu_tensor *[]){&a, &b}, 2);
  kw_gpu_step_int(step, opcode);
  kw_gpu_step_int(step, scalars);
  kw_gpu_step_scalar(plan, step, kw_gpu_argument(plan, scalars & KW_SCALAR_A ? 0 : 1), 0);
  return step;
}

static void binary(kw_gpu_plan *plan, int32_t opcode) {
  bool has_alpha = opcode == KW_BINARY_ADD || opcode == KW_BINARY_SUB;
  const kw_gpu_kernel *kernel = opcode >= KW_BINARY_POW         ? &power_kernel
                                : opcode >= KW_BINARY_DIV_TRUNC ? &quotient_kernel
                                                                : &binary_kernel;
  kw_gpu_step *step = pair(plan, kernel, plan->call->outs[0]->dtype, opcode);
  kw_gpu_step_scalar(plan, step, has_alpha ? kw_gpu_argument(plan, 2) : NULL, 1);
}

static void lower_binary(kw_gpu_plan *plan, const kw_gpu_op *op) {
  binary(plan, op->code);
}

/* Squares are products: pow takes many times as long. */
static void lower_pow_scalar(kw_gpu_plan *plan, const kw_gpu_op *op) {
  const kw_value *exponent = kw_gpu_argument(plan, 1);
  if (exponent->kind == KW_SCALAR_C128 || kw_gpu_real(plan, 1, 0) != 2) {
    binary(plan, op->code);
    return;
  }
  const kw_gpu_tensor out = kw_gpu_output(plan, 0), in = kw_gpu_input(plan, 0);
  kw_gpu_step *step =
      kw_gpu_step_elementwise(plan, &binary_kernel, out.ref.dtype, &out, (const kw_gpu_tensor *[]){&in, &in}, 2);
  kw_gpu_step_int(step, KW_BINARY_MUL);
  kw_gpu_step_int(step, 0);
  kw_gpu_step_number(step, 0);
  kw_gpu_step_number(step, 1);
}

static void lower_div_mode(kw_gpu_plan *plan, const kw_gpu_op *op) {
  int32_t floors = kw_gpu_choice(plan, 2, (const char *[]){"trunc", "floor", NULL});
  binary(plan, !kw_gpu_given(plan, 2) ? op->code : floors ? KW_BINARY_DIV_FLOOR : KW_BINARY_DIV_TRUNC);
}

/* As a binary op: by 10^decimals, or 10^-decimals where that is the integer. */
static void lower_round_decimals(kw_gpu_plan *plan, const kw_gpu_op *op) {
  int64_t decimals = kw_gpu_int(plan, 1, 0);
  kw_gpu_tensor out = kw_gpu_output(plan, 0), in = kw_gpu_input(plan, 0);
  kw_gpu_step *step =
      kw_gpu_step_elementwise(plan, &quotient_kernel, out.ref.dtype, &out, (const kw_gpu_tensor *[]){&in, NULL}, 2);
  kw_gpu_step_int(step, decimals < 0 ? KW_BINARY_ROUND_MULTIPLES : op->code);
  kw_gpu_step_int(step, KW_SCALAR_B);
  kw_gpu_step_number(step, pow(10, fabs((double)decimals)));
  kw_gpu_step_number(step, 1);
}

static void lower_compare(kw_gpu_plan *plan, const kw_gpu_op *op) {
  pair(plan, &compare_kernel, plan->call->args[0].u.tensor->dtype, op->code);
}

/* Of one tensor: x == 0, or what asks for no second operand. */
static void lower_test(kw_gpu_plan *plan, const kw_gpu_op *op) {
  kw_gpu_tensor out = kw_gpu_output(plan, 0), in = kw_gpu_input(plan, 0);
  kw_gpu_step *step =
      kw_gpu_step_elementwise(plan, &compare_kernel, in.ref.dtype, &out, (const kw_gpu_tensor *[]){&in, NULL}, 2);
  kw_gpu_step_int(step, op->code);
  kw_gpu_step_int(step, KW_SCALAR_B);
  kw_gpu_step_scalar(plan, step, NULL, 0);
}

/* An integer bound past the dtype's range is no bound: as a float it saturates where it would wrap. */
static kw_value saturating_bound(const kw_value *value, kw_dtype dtype) {
  kw_value bound = *value;
  if (bound.tag == KW_TAG_SCALAR && bound.kind == KW_SCALAR_I64 && kw_gpu_compute_dtype(dtype) == KW_I32) {
    bound.kind = KW_SCALAR_F64;
    bound.u.f = (double)bound.u.i;
  }
  return bound;
}

static void lower_clamp(kw_gpu_plan *plan, const kw_gpu_op *op) {
  (void)op;
  kw_gpu_tensor out = kw_gpu_output(plan, 0), in = kw_gpu_input(plan, 0), low_tensor = kw_gpu_input(plan, 1),
                high_tensor = kw_gpu_input(plan, 2);
  const kw_value low = saturating_bound(kw_gpu_argument(plan, 1), out.ref.dtype),
                 high = saturating_bound(kw_gpu_argument(plan, 2), out.ref.dtype);
  bool scalar = low.tag == KW_TAG_SCALAR || high.tag == KW_TAG_SCALAR;
  kw_gpu_step *step = kw_gpu_step_elementwise(plan, &clamp_kernel, out.ref.dtype, &out,
                                              (const kw_gpu_tensor *[]){&in, &low_tensor, &high_tensor}, 3);
  kw_gpu_step_int(step, (kw_gpu_given(plan, 1) ? KW_CLAMP_MIN : 0) | (kw_gpu_given(plan, 2) ? KW_CLAMP_MAX : 0) |
                            (scalar ? KW_CLAMP_SCALAR : 0));
  kw_gpu_step_scalar(plan, step, &low, 0);
  kw_gpu_step_scalar(plan, step, &high, 0);
}

/* Argument 2 is the third tensor, or the Scalar in its stead. */
static void lower_fused(kw_gpu_plan *plan, const kw_gpu_op *op) {
  kw_gpu_tensor out = kw_gpu_output(plan, 0), a = kw_gpu_input(plan, 0), b = kw_gpu_input(plan, 1),
                c = kw_gpu_input(plan, 2);
  bool scalar = !kw_gpu_present(&c);
  kw_gpu_step *step =
      kw_gpu_step_elementwise(plan, &fused_kernel, out.ref.dtype, &out, (const kw_gpu_tensor *[]){&a, &b, &c}, 3);
  kw_gpu_step_int(step, op->code);
  kw_gpu_step_int(step, scalar ? KW_SCALAR_C : 0);
  kw_gpu_step_scalar(plan, step, kw_gpu_argument(plan, scalar ? 2 : 3), 1);
}

/* Adds a Scalar argument as an i64. */
static void step_integer(kw_gpu_plan *plan, kw_gpu_step *step, uint32_t index) {
  int64_t integer = 0;
  if (kw_gpu_scalar_store(kw_gpu_argument(plan, index), KW_I64, &integer) != KW_OK)
    kw_gpu_refuse(plan, kw_gpu_complex_scalar);
  kw_gpu_step_long(step, integer);
}

static void lower_arange(kw_gpu_plan *plan, const kw_gpu_op *op) {
  (void)op;
  kw_gpu_tensor out = kw_gpu_output(plan, 0);
  kw_gpu_step *step = kw_gpu_step_elementwise(plan, &arange_kernel, out.ref.dtype, &out, NULL, 0);
  step_integer(plan, step, 0);
  step_integer(plan, step, 2);
  kw_gpu_step_scalar(plan, step, kw_gpu_argument(plan, 0), 0);
  kw_gpu_step_scalar(plan, step, kw_gpu_argument(plan, 2), 1);
}

static const kw_gpu_op ops[] = {
    {"add.Tensor", lower_binary, KW_BINARY_ADD, 0, KW_DTYPES_REAL},
    {"add.Scalar", lower_binary, KW_BINARY_ADD, 0, KW_DTYPES_REAL},
    {"sub.Tensor", lower_binary, KW_BINARY_SUB, 0, KW_DTYPES_NUM},
    {"sub.Scalar", lower_binary, KW_BINARY_SUB, 0, KW_DTYPES_NUM},
    {"mul.Tensor", lower_binary, KW_BINARY_MUL, 0, KW_DTYPES_REAL},
    {"mul.Scalar", lower_binary, KW_BINARY_MUL, 0, KW_DTYPES_REAL},
    {"div.Tensor", lower_binary, KW_BINARY_DIV, 0, KW_DTYPES_FLOAT},
    {"div.Scalar", lower_binary, KW_BINARY_DIV, 0, KW_DTYPES_FLOAT},
    {"div.Tensor_mode", lower_div_mode, KW_BINARY_DIV, 0, KW_DTYPES_NUM},
    {"div.Scalar_mode", lower_div_mode, KW_BINARY_DIV, 0, KW_DTYPES_NUM},
    {"neg", lower_unary, KW_UNARY_NEG, 0, KW_DTYPES_NUM},
    {"abs", lower_unary, KW_UNARY_ABS, 0, KW_DTYPES_NUM},
    {"pow.Tensor_Tensor", lower_binary, KW_BINARY_POW, 0, KW_DTYPES_NUM},
    {"pow.Tensor_Scalar", lower_pow_scalar, KW_BINARY_POW, 0, KW_DTYPES_NUM},
    {"pow.Scalar", lower_binary, KW_BINARY_POW, 0, KW_DTYPES_NUM},
    {"maximum", lower_binary, KW_BINARY_MAXIMUM, 0, KW_DTYPES_REAL},
    {"minimum", lower_binary, KW_BINARY_MINIMUM, 0, KW_DTYPES_REAL},
    {"clamp", lower_clamp, 0, 0, KW_DTYPES_NUM},
    {"clamp.Tensor", lower_clamp, 0, 0, KW_DTYPES_NUM},
    {"sqrt", lower_unary, KW_UNARY_SQRT, 0, KW_DTYPES_FLOAT},
    {"rsqrt", lower_unary, KW_UNARY_RSQRT, 0, KW_DTYPES_FLOAT},
    {"exp", lower_function, KW_FUNCTION_EXP, 0, KW_DTYPES_FLOAT},
    {"log", lower_function, KW_FUNCTION_LOG, 0, KW_DTYPES_FLOAT},
    {"sin", lower_function, KW_FUNCTION_SIN, 0, KW_DTYPES_FLOAT},
    {"cos", lower_function, KW_FUNCTION_COS, 0, KW_DTYPES_FLOAT},
    {"tanh", lower_function, KW_FUNCTION_TANH, 0, KW_DTYPES_FLOAT},
    {"sigmoid", lower_function, KW_FUNCTION_SIGMOID, 0, KW_DTYPES_FLOAT},
    {"erf", lower_function, KW_FUNCTION_ERF, 0, KW_DTYPES_FLOAT},
    {"relu", lower_unary, KW_UNARY_RELU, 0, KW_DTYPES_NUM},
    {"gelu", lower_gelu, KW_FUNCTION_GELU, 0, KW_DTYPES_FLOAT},
    {"silu", lower_function, KW_FUNCTION_SILU, 0, KW_DTYPES_FLOAT},
    {"eq.Tensor", lower_compare, KW_COMPARE_EQ, 0, KW_DTYPES_REAL},
    {"eq.Scalar", lower_compare, KW_COMPARE_EQ, 0, KW_DTYPES_REAL},
    {"ne.Tensor", lower_compare, KW_COMPARE_NE, 0, KW_DTYPES_REAL},
    {"ne.Scalar", lower_compare, KW_COMPARE_NE, 0, KW_DTYPES_REAL},
    {"lt.Tensor", lower_compare, KW_COMPARE_LT, 0, KW_DTYPES_REAL},
    {"lt.Scalar", lower_compare, KW_COMPARE_LT, 0, KW_DTYPES_REAL},
    {"le.Tensor", lower_compare, KW_COMPARE_LE, 0, KW_DTYPES_REAL},
    {"le.Scalar", lower_compare, KW_COMPARE_LE, 0, KW_DTYPES_REAL},
    {"gt.Tensor", lower_compare, KW_COMPARE_GT, 0, KW_DTYPES_REAL},
    {"gt.Scalar", lower_compare, KW_COMPARE_GT, 0, KW_DTYPES_REAL},
    {"ge.Tensor", lower_compare, KW_COMPARE_GE, 0, KW_DTYPES_REAL},
    {"ge.Scalar", lower_compare, KW_COMPARE_GE, 0, KW_DTYPES_REAL},
    {"logical_and", lower_compare, KW_COMPARE_AND, 0, KW_DTYPES_REAL},
    {"logical_or", lower_compare, KW_COMPARE_OR, 0, KW_DTYPES_REAL},
    {"logical_xor", lower_compare, KW_COMPARE_XOR, 0, KW_DTYPES_REAL},
    {"logical_not", lower_test, KW_COMPARE_EQ, 0, KW_DTYPES_REAL},
    {"bitwise_and.Tensor", lower_binary, KW_BINARY_AND, 0, KW_DTYPES_INTEGRAL},
    {"bitwise_and.Scalar", lower_binary, KW_BINARY_AND, 0, KW_DTYPES_INTEGRAL},
    {"bitwise_or.Tensor", lower_binary, KW_BINARY_OR, 0, KW_DTYPES_INTEGRAL},
    {"bitwise_or.Scalar", lower_binary, KW_BINARY_OR, 0, KW_DTYPES_INTEGRAL},
    {"bitwise_xor.Tensor", lower_binary, KW_BINARY_XOR, 0, KW_DTYPES_INTEGRAL},
    {"bitwise_xor.Scalar", lower_binary, KW_BINARY_XOR, 0, KW_DTYPES_INTEGRAL},
    {"bitwise_not", lower_unary, KW_UNARY_BITWISE_NOT, 0, KW_DTYPES_INTEGRAL},
    {"acos", lower_function, KW_FUNCTION_ACOS, 0, KW_DTYPES_FLOAT},
    {"acosh", lower_function, KW_FUNCTION_ACOSH, 0, KW_DTYPES_FLOAT},
    {"asin", lower_function, KW_FUNCTION_ASIN, 0, KW_DTYPES_FLOAT},
    {"asinh", lower_function, KW_FUNCTION_ASINH, 0, KW_DTYPES_FLOAT},
    {"atan", lower_function, KW_FUNCTION_ATAN, 0, KW_DTYPES_FLOAT},
    {"atanh", lower_function, KW_FUNCTION_ATANH, 0, KW_DTYPES_FLOAT},
    {"sinh", lower_function, KW_FUNCTION_SINH, 0, KW_DTYPES_FLOAT},
    {"cosh", lower_function, KW_FUNCTION_COSH, 0, KW_DTYPES_FLOAT},
    {"tan", lower_function, KW_FUNCTION_TAN, 0, KW_DTYPES_FLOAT},
    {"log1p", lower_function, KW_FUNCTION_LOG1P, 0, KW_DTYPES_FLOAT},
    {"expm1", lower_function, KW_FUNCTION_EXPM1, 0, KW_DTYPES_FLOAT},
    {"log2", lower_function, KW_FUNCTION_LOG2, 0, KW_DTYPES_FLOAT},
    {"log10", lower_function, KW_FUNCTION_LOG10, 0, KW_DTYPES_FLOAT},
    {"exp2", lower_function, KW_FUNCTION_EXP2, 0, KW_DTYPES_FLOAT},
    {"reciprocal", lower_unary, KW_UNARY_RECIPROCAL, 0, KW_DTYPES_FLOAT},
    {"atan2", lower_binary, KW_BINARY_ATAN2, 0, KW_DTYPES_FLOAT},
    {"ceil", lower_unary, KW_UNARY_CEIL, 0, KW_DTYPES_NUM},
    {"floor", lower_unary, KW_UNARY_FLOOR, 0, KW_DTYPES_NUM},
    {"round", lower_unary, KW_UNARY_ROUND, 0, KW_DTYPES_NUM},
    {"trunc", lower_unary, KW_UNARY_TRUNC, 0, KW_DTYPES_NUM},
    {"round.decimals", lower_round_decimals, KW_BINARY_ROUND_PARTS, 0, KW_DTYPES_FLOAT},
    {"sign", lower_unary, KW_UNARY_SIGN, 0, KW_DTYPES_REAL},
    {"isinf", lower_test, KW_COMPARE_IS_INF, 0, KW_DTYPES_REAL},
    {"isnan", lower_test, KW_COMPARE_IS_NAN, 0, KW_DTYPES_REAL},
    {"fmod.Tensor", lower_binary, KW_BINARY_FMOD, 0, KW_DTYPES_NUM},
    {"fmod.Scalar", lower_binary, KW_BINARY_FMOD, 0, KW_DTYPES_NUM},
    {"remainder.Tensor", lower_binary, KW_BINARY_REMAINDER, 0, KW_DTYPES_NUM},
    {"remainder.Scalar", lower_binary, KW_BINARY_REMAINDER, 0, KW_DTYPES_NUM},
    {"remainder.Scalar_Tensor", lower_binary, KW_BINARY_REMAINDER, 0, KW_DTYPES_NUM},
    {"bitwise_left_shift.Tensor", lower_binary, KW_BINARY_SHIFT_LEFT, 0, KW_DTYPES_INT},
    {"bitwise_left_shift.Tensor_Scalar", lower_binary, KW_BINARY_SHIFT_LEFT, 0, KW_DTYPES_INT},
    {"bitwise_right_shift.Tensor", lower_binary, KW_BINARY_SHIFT_RIGHT, 0, KW_DTYPES_INT},
    {"bitwise_right_shift.Tensor_Scalar", lower_binary, KW_BINARY_SHIFT_RIGHT, 0, KW_DTYPES_INT},
    {"addcmul", lower_fused, KW_FUSED_ADDCMUL, 0, KW_DTYPES_NUM},
    {"addcdiv", lower_fused, KW_FUSED_ADDCDIV, 0, KW_DTYPES_FLOAT},
    {"lerp.Scalar", lower_fused, KW_FUSED_LERP, 0, KW_DTYPES_FLOAT},
    {"lerp.Tensor", lower_fused, KW_FUSED_LERP, 0, KW_DTYPES_FLOAT},
    {"arange.start_step", lower_arange, 0, 0, KW_DTYPES_NUM},
    {0},
};

const kw_gpu_family kw_gpu_elementwise_family = {
    ops,
    {&unary_module, &function_module, &binary_module, &quotient_module, &power_module, &compare_module, &clamp_module,
     &fused_module, &arange_module}};
