/* SPDX-License-Identifier: Apache-2.0
 *
 * Tests of the reference's tables: every op is there, golden values, the compute types agree.
 */
#include "test_call.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const test_table tables[] = {kw_reference_f32, kw_reference_f64, kw_reference_f128};

/* ---- The tables ------------------------------------------------------------------------------------------------ */

#define DTYPES_INTEGRAL UINT64_C(0x03f)
#define DTYPES_INT UINT64_C(0x03e)
#define DTYPES_NUM UINT64_C(0x3fe)
#define DTYPES_REAL UINT64_C(0x3ff)
#define DTYPES_I8 UINT64_C(0x004)
#define DTYPES_U8 UINT64_C(0x002)
#define DTYPES_F8 UINT64_C(0xc00)
#define DTYPES_INDEX UINT64_C(0x030)
#define DTYPES_F32 UINT64_C(0x100)
#define DTYPES_FLOAT UINT64_C(0x3c0)
#define DTYPES_WIDE_FLOAT UINT64_C(0x300)
#define DTYPES_COMPLEX UINT64_C(0x3000)
#define DTYPES_FLOAT32 UINT64_C(0x1c0)
#define DTYPES_QUANTIZED UINT64_C(0x01e)
#define DTYPES_ANY UINT64_C(0x3fff)

static const struct {
  const char *schema;
  uint64_t dtypes;
  const char *result;
} op_rows[] = {
#define KW_OP(schema, dtypes, shape, result, compare, ulp, abs, magnitude, nan, inf, zero, sub, level) \
  {schema, DTYPES_##dtypes, #result},
#include "ops.def"
};

static void test_every_op_is_there(void **state) {
  (void)state;
  for (size_t t = 0; t < 3; t++) {
    uint32_t count = 0;
    const kw_reference_kernel *table = tables[t](&count);
    const uint32_t ops = sizeof op_rows / sizeof op_rows[0];
    assert_true(count >= ops);
    for (uint32_t i = ops; i < count; i++) { /* magnitudes and limits: no kernels */
      assert_non_null(strchr(table[i].op, '/'));
      assert_int_equal(table[i].flags, KW_REFERENCE_COMPOSITE);
    }
    for (uint32_t i = 0; i < ops; i++) {
      size_t length = strcspn(op_rows[i].schema, "(");
      assert_int_equal(strlen(table[i].op), length);
      assert_memory_equal(table[i].op, op_rows[i].schema, length);
      assert_true(table[i].dtypes == op_rows[i].dtypes);
      bool to_bool = strcmp(op_rows[i].result, "BOOL") == 0;
      assert_true(to_bool == ((table[i].flags & KW_REFERENCE_KEY_BY_INPUTS) != 0));
    }
  }
}

/* ---- Values ---------------------------------------------------------------------------------------------------- */

/* One f64 op on numbers: args are f64 tensors of one element. */
static double value_f64(test_table table, const char *op, double x, double y) {
  double in[2] = {x, y};
  kw_wide wide;
  kw_tensor_ref a = TENSOR(KW_F64, &in[0], 1), b = TENSOR(KW_F64, &in[1], 1), out = TENSOR(KW_DTYPE_WIDE, &wide, 1);
  if (strcmp(op, "gelu") == 0) {
    RUN(table, op, &out, test_arg(&a), test_string(y == 0 ? "none" : "tanh"));
  } else if (strcmp(op, "floor") == 0 || strcmp(op, "trunc") == 0) {
    RUN(table, "div.Tensor_mode", &out, test_arg(&a), test_arg(&b), test_string(op));
  } else {
    RUN(table, op, &out, test_arg(&a), test_arg(&b), test_int(1));
  }
  return wide.lo == 0 ? wide.hi : wide.hi + wide.lo;
}

static float value_f32(const char *op, float x, float y) {
  float in[2] = {x, y}, result = 0;
  kw_tensor_ref a = TENSOR(KW_F32, &in[0], 1), b = TENSOR(KW_F32, &in[1], 1), out = TENSOR(KW_F32, &result, 1);
  if (strcmp(op, "gelu") == 0) {
    RUN(kw_reference_f32, op, &out, test_arg(&a), test_string(y == 0 ? "none" : "tanh"));
  } else if (strcmp(op, "floor") == 0 || strcmp(op, "trunc") == 0) {
    RUN(kw_reference_f32, "div.Tensor_mode", &out, test_arg(&a), test_arg(&b), test_string(op));
  } else {
    RUN(kw_reference_f32, op, &out, test_arg(&a), test_arg(&b), test_int(1));
  }
  return result;
}

static bool close_to(double got, double expected, double bound) {
  if (isnan(expected)) return isnan(got);
  if (isinf(expected) || expected == 0) return got == expected && signbit(got) == signbit(expected);
  return fabs(got - expected) <= bound * fabs(expected);
}

static const struct {
  const char *op;
  double x, y, expected; /* expected: 17 digits, computed with a multiple-precision library; inputs exact in f32 */
} golden[] = {
    {"add.Tensor", 1.5, 2.25, 3.75},
    {"sub.Tensor", 1.5, 2.25, -0.75},
    {"mul.Tensor", 1.5, -2.25, -3.375},
    {"div.Tensor", 1, 3, 0.33333333333333333},
    {"div.Tensor", -1, 0, -INFINITY},
    {"floor", 7, 2, 3},
    {"floor", -7, 2, -4},
    {"floor", 7, -2, -4},
    {"floor", -0.0, 2, -0.0},
    {"floor", 1, 0, INFINITY},
    {"floor", INFINITY, 2, NAN},
    {"floor", 0x1.000066p+6, 0x1.bad04p+0, 37}, /* as float, the quotient of the rest rounds below 37 */
    {"floor", -0x1.00001cp+6, 0x1.bacfcp+0, -38},
    {"trunc", -7, 2, -3},
    {"trunc", -1, 2, -0.0},
    {"neg", 0, 0, -0.0},
    {"abs", -0.0, 0, 0},
    {"abs", -INFINITY, 0, INFINITY},
    {"pow.Tensor_Tensor", 2, 0.5, 1.4142135623730951},
    {"pow.Tensor_Tensor", -2, 3, -8},
    {"pow.Tensor_Tensor", -8, 0.5, NAN},
    {"pow.Tensor_Tensor", NAN, 0, 1},
    {"pow.Tensor_Tensor", 1, NAN, 1},
    {"pow.Tensor_Tensor", __builtin_nans(""), 0, 1},
    {"pow.Tensor_Tensor", 1, __builtin_nans(""), 1},
    {"maximum", -1, 2, 2},
    {"maximum", NAN, 2, NAN},
    {"maximum", 2, NAN, NAN},
    {"minimum", -1, 2, -1},
    {"minimum", NAN, -2, NAN},
    {"minimum", -2, NAN, NAN},
    {"sqrt", 2, 0, 1.4142135623730951},
    {"sqrt", -1, 0, NAN},
    {"rsqrt", 2, 0, 0.70710678118654752},
    {"rsqrt", -0.0, 0, -INFINITY},
    {"exp", 1, 0, 2.7182818284590452},
    {"exp", -INFINITY, 0, 0},
    {"log", 10, 0, 2.3025850929940457},
    {"log", 0, 0, -INFINITY},
    {"log", -1, 0, NAN},
    {"sin", 1, 0, 0.84147098480789651},
    {"cos", 1, 0, 0.54030230586813972},
    {"cos", INFINITY, 0, NAN},
    {"tanh", 0.5, 0, 0.46211715726000976},
    {"tanh", -INFINITY, 0, -1},
    {"sigmoid", 1, 0, 0.73105857863000488},
    {"sigmoid", -1, 0, 0.26894142136999512},
    {"sigmoid", -INFINITY, 0, 0},
    {"erf", 0.5, 0, 0.52049987781304654},
    {"relu", -3, 0, 0},
    {"relu", 3, 0, 3},
    {"relu", NAN, 0, NAN},
    {"gelu", 1, 0, 0.84134474606854295},
    {"gelu", -3, 0, -0.0040496940948902836},
    {"gelu", 1, 1, 0.841191990608276705},
    {"silu", 1, 0, 0.73105857863000488},
    {"silu", -1, 0, -0.26894142136999512},
};

static void test_golden_values(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof golden / sizeof golden[0]; i++) {
    double x = golden[i].x, y = golden[i].y, expected = golden[i].expected;
    bool single = close_to((double)value_f32(golden[i].op, (float)x, (float)y), expected, 1e-6);
    bool wide = close_to(value_f64(kw_reference_f64, golden[i].op, x, y), expected, 4e-15);
    bool widest = close_to(value_f64(kw_reference_f128, golden[i].op, x, y), expected, 1.2e-16);
    if (!single || !wide || !widest) fail_msg("%s(%g, %g): %d %d %d", golden[i].op, x, y, single, wide, widest);
  }
}

/* The three compute types tell the same story over many magnitudes: each within its precision of the next. */
static void test_compute_types_agree(void **state) {
  (void)state;
  static const char *ops[] = {
      "add.Tensor", "sub.Tensor", "mul.Tensor", "div.Tensor", "neg",  "abs",  "maximum",
      "minimum",    "sqrt",       "rsqrt",      "exp",        "log",  "sin",  "cos",
      "tanh",       "sigmoid",    "erf",        "relu",       "gelu", "silu", "pow.Tensor_Tensor"};
  static const float points[] = {-100,   -87.5f, -20.3f, -9.1f, -5.7f, -3,   -1.1f, -0.7f, -0.01f, -1e-30f, 0,
                                 1e-30f, 0.003f, 0.3f,   0.99f, 1,     1.7f, 4.4f,  8.8f,  25.1f,  88,      1e4f};
  size_t count = sizeof points / sizeof points[0];
  for (size_t o = 0; o < sizeof ops / sizeof ops[0]; o++) {
    for (size_t i = 0; i < count * count; i++) {
      float x = points[i % count], y = points[i / count];
      double single = (double)value_f32(ops[o], x, y);
      double wide = value_f64(kw_reference_f64, ops[o], (double)x, (double)y);
      double widest = value_f64(kw_reference_f128, ops[o], (double)x, (double)y);
      double units = strcmp(ops[o], "gelu") == 0 ? 16 + (double)(x * x) : 16; /* its tail's condition */
      double coarse = fabs(wide) > (double)FLT_MAX ? (double)INFINITY : wide;
      double slack = units * (double)FLT_EPSILON * fabs(wide) + 0x1p-146;
      bool equal = (isnan(single) && isnan(wide)) || single == copysign(coarse, wide) || fabs(single - wide) <= slack;
      double fine = units * DBL_EPSILON * fabs(widest);
      bool finer = (isnan(wide) && isnan(widest)) || wide == widest || fabs(wide - widest) <= fine;
      if (!equal || !finer) fail_msg("%s(%g, %g): %g %g %g", ops[o], (double)x, (double)y, single, wide, widest);
    }
  }
}

/* silu stays within a few units where exp(x) is subnormal but the result has more bits. */
static void test_silu_tail(void **state) {
  (void)state;
  double exact = value_f64(kw_reference_f64, "silu", -100, 0);
  assert_true(fabs((double)value_f32("silu", -100, 0) - exact) <= 2 * 0x1p-149);
  assert_true(isnan(value_f32("silu", -INFINITY, 0)));
}

/* gelu is a small number there, not what a difference of large ones leaves. The values are of mpmath. */
static void test_gelu_tail(void **state) {
  (void)state;
  const struct {
    float x, form;
    double exact;
  } rows[] = {{-10, 0, -7.61985302416052607e-23}, {-7, 1, -2.31544226207254896e-15}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    const double x = (double)rows[i].x, form = (double)rows[i].form, size = fabs(rows[i].exact);
    assert_true(fabs((double)value_f32("gelu", rows[i].x, rows[i].form) - rows[i].exact) <= 2e-5 * size);
    assert_true(fabs(value_f64(kw_reference_f64, "gelu", x, form) - rows[i].exact) <= 4e-14 * size);
    assert_true(fabs(value_f64(kw_reference_f128, "gelu", x, form) - rows[i].exact) <= 1e-16 * size);
  }
  assert_true(value_f32("gelu", -1e30f, 1) == 0 && isnan(value_f32("gelu", -INFINITY, 1)));
}

static double compare(const char *op, kw_tensor_ref a, kw_value b) {
  uint8_t result = 9;
  kw_tensor_ref out = TENSOR(KW_BOOL, &result, 1);
  RUN(kw_reference_f64, op, &out, test_arg(&a), b);
  assert_true(result <= 1);
  return result;
}

static void test_comparisons(void **state) {
  (void)state;
  double nan = NAN, two = 2;
  int32_t integer = 2;
  kw_tensor_ref n = TENSOR(KW_F64, &nan, 1), t = TENSOR(KW_F64, &two, 1), i = TENSOR(KW_I32, &integer, 1);
  static const char *ops[] = {"eq", "ne", "lt", "le", "gt", "ge"};
  static const int less[] = {0, 1, 1, 1, 0, 0}, equal[] = {1, 0, 0, 1, 0, 1}, unordered[] = {0, 1, 0, 0, 0, 0};
  for (int k = 0; k < 6; k++) {
    char tensor[16], scalar[16];
    snprintf(tensor, sizeof tensor, "%s.Tensor", ops[k]);
    snprintf(scalar, sizeof scalar, "%s.Scalar", ops[k]);
    assert_true(compare(scalar, t, test_float(2.5)) == less[k]);
    assert_true(compare(scalar, i, test_float(2.5)) == less[k]); /* in f32, not in i32 */
    assert_true(compare(scalar, i, test_int(3)) == less[k]);
    assert_true(compare(tensor, t, test_arg(&i)) == equal[k]);
    assert_true(compare(tensor, i, test_arg(&i)) == equal[k]);
    assert_true(compare(tensor, t, test_arg(&n)) == unordered[k]);
  }
  /* Scalars compare as the device's compute type has them: 0.1 is a float here, in every table. */
  float tenth = 0.1f;
  assert_true(compare("eq.Scalar", TENSOR(KW_F32, &tenth, 1), test_float(0.1)) == 1);
  /* i64 to f32 rounds before comparing, as promotion says. */
  int64_t big = (INT64_C(1) << 24) + 1;
  float near = 0x1p24f;
  kw_tensor_ref b = TENSOR(KW_I64, &big, 1), f = TENSOR(KW_F32, &near, 1);
  assert_true(compare("eq.Tensor", f, test_arg(&b)) == 1);
  /* A float Scalar makes the key f32, not f64. */
  int32_t odd = (1 << 24) + 1;
  assert_true(compare("eq.Scalar", TENSOR(KW_I32, &odd, 1), test_float(0x1p24)) == 1);
  /* A 0-d tensor of the same kind does not widen the key: 0.1 is rounded to f32. */
  double exact = 0.1;
  kw_tensor_ref rank0 = RANK0(KW_F64, &exact), rank1 = TENSOR(KW_F64, &exact, 1);
  assert_true(compare("eq.Tensor", TENSOR(KW_F32, &tenth, 1), test_arg(&rank0)) == 1);
  assert_true(compare("eq.Tensor", TENSOR(KW_F32, &tenth, 1), test_arg(&rank1)) == 0);
}

static void test_logic(void **state) {
  (void)state;
  uint8_t a[4] = {0, 0, 1, 1}, b[4] = {0, 1, 0, 1}, out[4];
  float x[4] = {0, -0.0f, NAN, 2}, y[4] = {0, 1, -0.0f, INFINITY};
  kw_tensor_ref ta = TENSOR(KW_BOOL, a, 4), tb = TENSOR(KW_BOOL, b, 4), result = TENSOR(KW_BOOL, out, 4);
  kw_tensor_ref tx = TENSOR(KW_F32, x, 4), ty = TENSOR(KW_F32, y, 4);
  static const struct {
    const char *logical, *bitwise, *arithmetic;
    uint8_t expected[4];
  } cases[] = {{"logical_and", "bitwise_and.Tensor", "mul.Tensor", {0, 0, 0, 1}},
               {"logical_or", "bitwise_or.Tensor", "add.Tensor", {0, 1, 1, 1}},
               {"logical_xor", "bitwise_xor.Tensor", "ne.Tensor", {0, 1, 1, 0}}};
  for (size_t i = 0; i < 3; i++) {
    RUN(kw_reference_f32, cases[i].logical, &result, test_arg(&ta), test_arg(&tb));
    assert_memory_equal(out, cases[i].expected, 4);
    RUN(kw_reference_f32, cases[i].logical, &result, test_arg(&tx), test_arg(&ty));
    assert_memory_equal(out, cases[i].expected, 4);
    RUN(kw_reference_f32, cases[i].bitwise, &result, test_arg(&ta), test_arg(&tb));
    assert_memory_equal(out, cases[i].expected, 4);
    RUN(kw_reference_f32, cases[i].arithmetic, &result, test_arg(&ta), test_arg(&tb), test_int(1));
    assert_memory_equal(out, cases[i].expected, 4);
  }
  RUN(kw_reference_f32, "logical_not", &result, test_arg(&tx));
  assert_memory_equal(out, ((uint8_t[]){1, 1, 0, 0}), 4);
  RUN(kw_reference_f32, "bitwise_not", &result, test_arg(&ta));
  assert_memory_equal(out, ((uint8_t[]){1, 1, 0, 0}), 4);
}

static void test_clamp(void **state) {
  (void)state;
  float x[5] = {-2, 0.5f, 7, NAN, 3}, out[5], low[5] = {0, 0, 0, 0, NAN};
  kw_tensor_ref self = TENSOR(KW_F32, x, 5), result = TENSOR(KW_F32, out, 5), tensor = TENSOR(KW_F32, low, 5);
  for (size_t t = 0; t < 3; t++) {
    RUN(tables[t], "clamp", &result, test_arg(&self), test_float(0), test_float(1));
    assert_true(out[0] == 0 && out[1] == 0.5f && out[2] == 1 && isnan(out[3]));
    RUN(tables[t], "clamp", &result, test_arg(&self), test_int(1), test_none());
    assert_true(out[0] == 1 && out[1] == 1 && out[2] == 7 && isnan(out[3]));
    RUN(tables[t], "clamp", &result, test_arg(&self), test_none(), test_int(1));
    assert_true(out[0] == -2 && out[1] == 0.5f && out[2] == 1 && isnan(out[3]));
    RUN(tables[t], "clamp", &result, test_arg(&self), test_int(5), test_int(2));
    assert_true(out[0] == 2 && out[1] == 2 && out[2] == 2);
    RUN(tables[t], "clamp.Tensor", &result, test_arg(&self), test_arg(&tensor), test_none());
    assert_true(out[0] == 0 && out[2] == 7 && isnan(out[3]) && isnan(out[4]));
    assert_int_equal(TRY(tables[t], "clamp", &result, test_arg(&self), test_none(), test_none()),
                     KW_ERR_INVALID_ARGUMENT);
  }
  int32_t integer[2] = {-9, 9};
  kw_tensor_ref i = TENSOR(KW_I32, integer, 2), o = TENSOR(KW_I32, integer, 2);
  RUN(kw_reference_f32, "clamp", &o, test_arg(&i), test_int(5), test_int(2));
  assert_true(integer[0] == 2 && integer[1] == 2);
}

/* ---- Integers -------------------------------------------------------------------------------------------------- */

static int64_t integer(kw_dtype dtype, const char *op, int64_t x, int64_t y, const char *mode) {
  char a[8], b[8], result[8];
  kw_number_store_int(dtype, a, x);
  kw_number_store_int(dtype, b, y);
  kw_tensor_ref ta = TENSOR(dtype, a, 1), tb = TENSOR(dtype, b, 1), out = TENSOR(dtype, result, 1);
  RUN(kw_reference_f32, op, &out, test_arg(&ta), test_arg(&tb), mode ? test_string(mode) : test_int(1));
  return kw_number_load_int(dtype, result);
}

static void test_integers(void **state) {
  (void)state;
  assert_int_equal(integer(KW_U8, "add.Tensor", 250, 10, NULL), 4);
  assert_int_equal(integer(KW_U8, "sub.Tensor", 1, 2, NULL), 255);
  assert_int_equal(integer(KW_I8, "mul.Tensor", 100, 2, NULL), -56);
  assert_int_equal(integer(KW_I64, "add.Tensor", INT64_MAX, 1, NULL), INT64_MIN);
  assert_int_equal(integer(KW_I64, "mul.Tensor", INT64_MIN, -1, NULL), INT64_MIN);
  assert_int_equal(integer(KW_I8, "neg", -128, 0, NULL), -128);
  assert_int_equal(integer(KW_I8, "abs", -128, 0, NULL), -128);
  assert_int_equal(integer(KW_I64, "abs", INT64_MIN, 0, NULL), INT64_MIN);
  assert_int_equal(integer(KW_U8, "neg", 1, 0, NULL), 255);
  static const kw_dtype signed_dtypes[] = {KW_I8, KW_I16, KW_I32, KW_I64};
  static const int64_t smallest[] = {INT8_MIN, INT16_MIN, INT32_MIN, INT64_MIN};
  for (size_t i = 0; i < 4; i++) {
    assert_int_equal(integer(signed_dtypes[i], "div.Tensor_mode", smallest[i], -1, "trunc"), smallest[i]);
    assert_int_equal(integer(signed_dtypes[i], "div.Tensor_mode", smallest[i], -1, "floor"), smallest[i]);
    assert_int_equal(integer(signed_dtypes[i], "div.Tensor_mode", -7, 2, "trunc"), -3);
    assert_int_equal(integer(signed_dtypes[i], "div.Tensor_mode", -7, 2, "floor"), -4);
    assert_int_equal(integer(signed_dtypes[i], "div.Tensor_mode", 7, -2, "floor"), -4);
    assert_int_equal(integer(signed_dtypes[i], "div.Tensor_mode", -8, 2, "floor"), -4);
    assert_int_equal(integer(signed_dtypes[i], "div.Tensor_mode", 7, 0, "floor"), 0);
    assert_int_equal(integer(signed_dtypes[i], "div.Tensor_mode", 7, 0, "trunc"), 0);
    assert_int_equal(integer(signed_dtypes[i], "maximum", smallest[i], -1, NULL), -1);
    assert_int_equal(integer(signed_dtypes[i], "minimum", smallest[i], -1, NULL), smallest[i]);
    assert_int_equal(integer(signed_dtypes[i], "relu", -5, 0, NULL), 0);
    assert_int_equal(integer(signed_dtypes[i], "bitwise_not", 5, 0, NULL), -6);
    assert_int_equal(integer(signed_dtypes[i], "pow.Tensor_Tensor", -3, 3, NULL), -27);
    assert_int_equal(integer(signed_dtypes[i], "pow.Tensor_Tensor", 7, 0, NULL), 1);
    assert_int_equal(integer(signed_dtypes[i], "pow.Tensor_Tensor", 2, -1, NULL), 0);
    assert_int_equal(integer(signed_dtypes[i], "pow.Tensor_Tensor", 1, -4, NULL), 1);
    assert_int_equal(integer(signed_dtypes[i], "pow.Tensor_Tensor", -1, -3, NULL), -1);
    assert_int_equal(integer(signed_dtypes[i], "pow.Tensor_Tensor", -1, -4, NULL), 1);
    assert_int_equal(integer(signed_dtypes[i], "pow.Tensor_Tensor", 0, -4, NULL), 0);
  }
  assert_int_equal(integer(KW_I32, "pow.Tensor_Tensor", 3, 40, NULL), (int32_t)(uint32_t)12157665459056928801u);
}

/* Integers under a function become f32; mixed inputs meet in the key dtype. */
static void test_mixed_dtypes(void **state) {
  (void)state;
  int32_t four[1] = {4};
  float single[1], half[1] = {0.5f};
  uint8_t u = 200;
  int8_t s = -100;
  int16_t sum = 0;
  uint16_t f16 = 0x3c00, bf16 = 0x3f80;
  kw_tensor_ref i = TENSOR(KW_I32, four, 1), f = TENSOR(KW_F32, half, 1), out = TENSOR(KW_F32, single, 1);
  RUN(kw_reference_f32, "sqrt", &out, test_arg(&i));
  assert_true(single[0] == 2);
  RUN(kw_reference_f32, "div.Scalar", &out, test_arg(&i), test_int(8));
  assert_true(single[0] == 0.5f);
  RUN(kw_reference_f32, "add.Tensor", &out, test_arg(&f), test_arg(&i), test_float(0.25));
  assert_true(single[0] == 1.5f);
  RUN(kw_reference_f32, "mul.Scalar", &out, test_arg(&i), test_float(2.5));
  assert_true(single[0] == 10);
  kw_tensor_ref tu = TENSOR(KW_U8, &u, 1), ts = TENSOR(KW_I8, &s, 1), tsum = TENSOR(KW_I16, &sum, 1);
  RUN(kw_reference_f32, "sub.Tensor", &tsum, test_arg(&tu), test_arg(&ts), test_int(1));
  assert_int_equal(sum, 300);
  kw_tensor_ref th = TENSOR(KW_F16, &f16, 1), tb = TENSOR(KW_BF16, &bf16, 1);
  RUN(kw_reference_f32, "add.Tensor", &out, test_arg(&th), test_arg(&tb), test_int(1));
  assert_true(single[0] == 2);
  /* For a wide output the key comes from the inputs: f32 here, so the 0-d f64 is rounded to f32 first. */
  double tenth = 0.1;
  kw_wide wide;
  kw_tensor_ref rank0 = RANK0(KW_F64, &tenth), wide_out = TENSOR(KW_DTYPE_WIDE, &wide, 1);
  RUN(kw_reference_f64, "mul.Tensor", &wide_out, test_arg(&f), test_arg(&rank0));
  assert_true(wide.hi == 0.5 * (double)0.1f);
  RUN(kw_reference_f64, "sqrt", &wide_out, test_arg(&i));
  assert_true(wide.hi == 2);
  RUN(kw_reference_f64, "mul.Scalar", &wide_out, test_arg(&f), test_float(0.1));
  assert_true(wide.hi == 0.5 * (double)0.1f);
  assert_int_equal(TRY(kw_reference_f64, "bitwise_and.Tensor", &wide_out, test_arg(&f), test_arg(&f)),
                   KW_ERR_INVALID_ARGUMENT);
}

/* ---- Moves ----------------------------------------------------------------------------------------------------- */

static void test_moves(void **state) {
  (void)state;
  uint32_t nan_bits[2] = {0x7fa12345, 0xffc00001}, moved[2] = {0, 0};
  kw_tensor_ref from = TENSOR(KW_F32, nan_bits, 2), to = TENSOR(KW_F32, moved, 2);
  RUN(kw_reference_f32, "copy_", &to, test_arg(&to), test_arg(&from), test_none());
  assert_memory_equal(moved, nan_bits, sizeof moved); /* payloads of signalling NaNs included */
  uint8_t condition[2] = {0, 7};
  kw_tensor_ref mask = TENSOR(KW_U8, condition, 2);
  float other[2] = {1, 2};
  kw_tensor_ref rest = TENSOR(KW_F32, other, 2);
  RUN(kw_reference_f32, "where.self", &to, test_arg(&mask), test_arg(&from), test_arg(&rest));
  float first;
  memcpy(&first, &moved[0], sizeof first);
  assert_true(first == 1 && moved[1] == nan_bits[1]);

  for (kw_dtype a = 0; a <= KW_C128; a++) { /* 1 survives every pair of dtypes */
    for (kw_dtype b = 0; b <= KW_C128; b++) {
      char x[16], y[16];
      kw_tensor_ref tx = TENSOR(a, x, 1), ty = TENSOR(b, y, 1);
      RUN(kw_reference_f32, "fill_.Scalar", &tx, test_arg(&tx), test_int(1));
      RUN(kw_reference_f32, "copy_", &ty, test_arg(&ty), test_arg(&tx), test_none());
      assert_true(kw_number_load(b, y) == 1);
    }
  }
  int8_t bytes[3];
  kw_tensor_ref i8 = TENSOR(KW_I8, bytes, 3);
  RUN(kw_reference_f32, "fill_.Scalar", &i8, test_arg(&i8), test_float(-1e9));
  assert_true(bytes[0] == -128 && bytes[2] == -128);
  float seven = 7.9f;
  kw_tensor_ref value = RANK0(KW_F32, &seven);
  RUN(kw_reference_f32, "fill_.Tensor", &i8, test_arg(&i8), test_arg(&value));
  assert_true(bytes[0] == 7 && bytes[2] == 7);
  double complex[2];
  kw_tensor_ref c = TENSOR(KW_C128, complex, 1);
  RUN(kw_reference_f32, "fill_.Scalar", &c, test_arg(&c),
      (kw_value){.tag = KW_TAG_SCALAR, .kind = KW_SCALAR_C128, .u.c = {1, -2}});
  assert_true(complex[0] == 1 && complex[1] == -2);
}

static void test_factories(void **state) {
  (void)state;
  int64_t shape[] = {3};
  const kw_value size = {.tag = KW_TAG_INT_LIST, .count = 1, .u.ints = shape};
  const kw_value i64 = {.tag = KW_TAG_DTYPE, .u.dtype = KW_I64};
  float f[3] = {0};
  int64_t n[3] = {0};
  uint8_t u[3] = {0};
  double d[3] = {0};
  kw_tensor_ref f32 = TENSOR(KW_F32, f, 3), integers = TENSOR(KW_I64, n, 3), u8 = TENSOR(KW_U8, u, 3);
  kw_tensor_ref f64 = TENSOR(KW_F64, d, 3);
  for (size_t t = 0; t < 3; t++) {
    RUN(tables[t], "full", &f32, size, test_float(2.5), test_none());
    assert_memory_equal(f, ((float[]){2.5f, 2.5f, 2.5f}), sizeof f);
    RUN(tables[t], "arange.start_step", &f32, test_float(0.5), test_int(-5), test_int(-2), test_none());
    assert_memory_equal(f, ((float[]){0.5f, -1.5f, -3.5f}), sizeof f);
    RUN(tables[t], "arange.start_step", &u8, test_int(250), test_int(280), test_int(10), test_none());
    assert_memory_equal(u, ((uint8_t[]){250, 4, 14}), sizeof u);
    RUN(tables[t], "arange.start_step", &integers, test_float(-5.5), test_float(0.2), test_float(2.9), i64);
    assert_memory_equal(n, ((int64_t[]){-5, -3, -1}), sizeof n); /* numbers are cut before they are added */
  }
  RUN(kw_reference_f32, "arange.start_step", &u8, test_float(-5.5), test_float(0), test_float(2), test_none());
  assert_memory_equal(u, ((uint8_t[]){251, 253, 255}), sizeof u); /* -5, -3, -1 cut to u8 */
  int64_t large = (INT64_C(1) << 53) + 1;
  RUN(kw_reference_f32, "arange.start_step", &integers, test_int(large), test_int(large + 3), test_int(1), test_none());
  assert_true(n[0] == large && n[2] == large + 2);
  RUN(kw_reference_f64, "arange.start_step", &f64, test_float(0.1), test_float(1), test_float(0.4), test_none());
  assert_true(d[0] == 0.1 && d[1] == 0.1 + 0.4 && d[2] == 0.1 + 2 * 0.4);
  /* Numbers are f32's before anything is computed, also in a wider type. */
  kw_wide wide[3] = {{0, 0}};
  kw_tensor_ref wide_out = TENSOR(KW_DTYPE_WIDE, wide, 3);
  RUN(kw_reference_f64, "arange.start_step", &wide_out, test_float(0.1), test_float(1), test_float(0.4), test_none());
  assert_true(wide[1].hi == (double)0.1f + (double)0.4f);
  uint8_t flags[3] = {0};
  kw_tensor_ref bools = TENSOR(KW_BOOL, flags, 3);
  assert_int_equal(
      TRY(kw_reference_f32, "arange.start_step", &bools, test_int(0), test_int(3), test_int(1), test_none()),
      KW_ERR_INVALID_ARGUMENT);
}

/* A transposed input, an input that repeats, offsets, and an output with gaps that stay untouched. */
static void test_strides(void **state) {
  (void)state;
  float x[8] = {-1, -1, 1, 2, 3, 4, 5, 6}, y[2] = {10, 20}, out[13];
  for (int i = 0; i < 13; i++) out[i] = -99;
  kw_tensor_ref a = TENSOR(KW_F32, x, 2, 3), b = TENSOR(KW_F32, y, 2, 3), result = TENSOR(KW_F32, out, 2, 3);
  a.offset = 2 * sizeof(float); /* the 3 x 2 matrix 1 2, 3 4, 5 6, transposed */
  a.strides[0] = 1;
  a.strides[1] = 2;
  b.strides[0] = 1;
  b.strides[1] = 0;
  result.offset = sizeof(float);
  result.strides[0] = 6;
  result.strides[1] = 2;
  RUN(kw_reference_f32, "add.Tensor", &result, test_arg(&a), test_arg(&b), test_int(1));
  static const float expected[13] = {-99, 11, -99, 13, -99, 15, -99, 22, -99, 24, -99, 26, -99};
  assert_memory_equal(out, expected, sizeof out);

  /* Broadcasting inside: [2, 1] with [3]. */
  float row[3] = {1, 2, 3}, dense[6];
  kw_tensor_ref column = TENSOR(KW_F32, y, 2, 1), vector = TENSOR(KW_F32, row, 3), six = TENSOR(KW_F32, dense, 2, 3);
  RUN(kw_reference_f32, "mul.Tensor", &six, test_arg(&column), test_arg(&vector));
  assert_memory_equal(dense, ((float[]){10, 20, 30, 20, 40, 60}), sizeof dense);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_op_is_there),
      cmocka_unit_test(test_golden_values),
      cmocka_unit_test(test_compute_types_agree),
      cmocka_unit_test(test_silu_tail),
      cmocka_unit_test(test_gelu_tail),
      cmocka_unit_test(test_comparisons),
      cmocka_unit_test(test_logic),
      cmocka_unit_test(test_clamp),
      cmocka_unit_test(test_integers),
      cmocka_unit_test(test_mixed_dtypes),
      cmocka_unit_test(test_moves),
      cmocka_unit_test(test_factories),
      cmocka_unit_test(test_strides),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
