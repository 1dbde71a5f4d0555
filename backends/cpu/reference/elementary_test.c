/* SPDX-License-Identifier: Apache-2.0
 *
 * Tests of the elementary functions: known values, what lies past their range, integers, predicates.
 */
#include "test_call.h"

#include <math.h>
#include <stdio.h>

static const test_table tables[] = {kw_reference_f32, kw_reference_f64, kw_reference_f128};

/* An f64 op on numbers, in the table's compute type. round.decimals takes y as an int. */
static double value(test_table table, const char *op, double x, double y) {
  double in[2] = {x, y};
  kw_wide wide;
  kw_tensor_ref a = TENSOR(KW_F64, &in[0], 1), b = TENSOR(KW_F64, &in[1], 1), out = TENSOR(KW_DTYPE_WIDE, &wide, 1);
  if (strstr(op, "decimals")) {
    RUN(table, op, &out, test_arg(&a), ((kw_value){.tag = KW_TAG_INT, .u.i = (int64_t)y}));
  } else {
    RUN(table, op, &out, test_arg(&a), test_arg(&b));
  }
  return wide.lo == 0 ? wide.hi : wide.hi + wide.lo;
}

static bool close_to(double got, double expected, double bound) {
  if (isnan(expected)) return isnan(got);
  if (isinf(expected) || expected == 0) return got == expected && signbit(got) == signbit(expected);
  return fabs(got - expected) <= bound * fabs(expected);
}

/* Expected: 21 digits from a multiple-precision library; inputs are exact in f32. */
static const struct {
  const char *op;
  double x, y, expected;
} golden[] = {
    {"acos", 0.5, 0, 1.04719755119659774615},
    {"acos", 1.5, 0, NAN},
    {"acosh", 2, 0, 1.31695789692481670863},
    {"acosh", 0.5, 0, NAN},
    {"asin", 0.5, 0, 0.523598775598298873077},
    {"asin", -0.0, 0, -0.0},
    {"asinh", 0.5, 0, 0.481211825059603447498},
    {"asinh", -0x1p-40, 0, -0x1p-40},
    {"atan", 1, 0, 0.785398163397448309616},
    {"atan", -INFINITY, 0, -1.57079632679489661923},
    {"atanh", 0.5, 0, 0.549306144334054845698},
    {"atanh", 1, 0, INFINITY},
    {"sinh", 1, 0, 1.17520119364380145688},
    {"sinh", 0x1p-40, 0, 0x1p-40},
    {"cosh", 1, 0, 1.54308063481524377848},
    {"tan", 1, 0, 1.55740772465490223051},
    {"tan", INFINITY, 0, NAN},
    {"log1p", 1, 0, 0.693147180559945309417},
    {"log1p", 0x1p-40, 0, 0x1p-40 - 0x1p-81},
    {"log1p", -1, 0, -INFINITY},
    {"expm1", 1, 0, 1.71828182845904523536},
    {"expm1", 0x1p-40, 0, 0x1p-40 + 0x1p-81},
    {"expm1", -INFINITY, 0, -1},
    {"log2", 10, 0, 3.32192809488736234787},
    {"log2", 0x1p-40, 0, -40},
    {"log10", 2, 0, 0.301029995663981195214},
    {"log10", -1, 0, NAN},
    {"exp2", 0.5, 0, 1.4142135623730950488},
    {"exp2", -3, 0, 0.125},
    {"reciprocal", 3, 0, 0.33333333333333333},
    {"reciprocal", -0.0, 0, -INFINITY},
    {"atan2", 1, -1, 2.35619449019234492885},
    {"atan2", -0.0, -1, -3.14159265358979323846},
    {"atan2", -0.0, 1, -0.0},
    {"ceil", -0.5, 0, -0.0},
    {"ceil", 1.25, 0, 2},
    {"floor", -0.5, 0, -1},
    {"floor", -0.0, 0, -0.0},
    {"round", 0.5, 0, 0},
    {"round", 1.5, 0, 2},
    {"round", 2.5, 0, 2},
    {"round", -0.5, 0, -0.0},
    {"round", NAN, 0, NAN},
    {"trunc", -1.75, 0, -1},
    {"trunc", -0.25, 0, -0.0},
    {"round.decimals", 2.5, 0, 2},
    {"round.decimals", 0.375, 2, 0.38}, /* a tie: 37.5 to 38 */
    {"round.decimals", 0.625, 2, 0.62},
    {"round.decimals", 125, -1, 120},
    {"round.decimals", -INFINITY, 1, -INFINITY},
    {"sign", -3, 0, -1},
    {"sign", 0x1p-149, 0, 1},
    {"sign", NAN, 0, 0},
    {"fmod", 7, -4, 3},
    {"fmod", -7, 4, -3},
    {"fmod", -6, 3, -0.0},
    {"fmod", 1, 0, NAN},
    {"fmod", 5, INFINITY, 5},
    {"fmod", INFINITY, 5, NAN},
    {"fmod", 0x1p100, 3, 1},
    {"remainder", 7, -4, -1},
    {"remainder", -7, 4, 1},
    {"remainder", 7, 4, 3},
    {"remainder", -1, INFINITY, INFINITY},
    {"remainder", 1, 0, NAN},
    {"remainder", -0x1p-100, 1, 1},
};

static void known_values(void **state) {
  (void)state;
  static const double bounds[] = {5e-7, 9e-16, 1.2e-16};
  for (size_t i = 0; i < sizeof golden / sizeof golden[0]; i++) {
    char op[32];
    bool pair = strcmp(golden[i].op, "fmod") == 0 || strcmp(golden[i].op, "remainder") == 0;
    snprintf(op, sizeof op, "%s%s", golden[i].op, pair ? ".Tensor" : "");
    for (size_t t = 0; t < 3; t++) {
      double got = value(tables[t], op, golden[i].x, golden[i].y);
      if (!close_to(got, golden[i].expected, bounds[t]))
        fail_msg("%s(%g, %g): %.17g in table %zu", op, golden[i].x, golden[i].y, got, t);
    }
  }
}

/* What overflows stays apart from what is infinite. */
static void past_the_range(void **state) {
  (void)state;
  double two = 2, most = 0x1.fffffffffffffp1023, infinite = INFINITY;
  kw_wide wide;
  kw_tensor_ref a = TENSOR(KW_F64, &most, 1), b = TENSOR(KW_F64, &two, 1), out = TENSOR(KW_DTYPE_WIDE, &wide, 1);
  RUN(kw_reference_f128, "mul.Tensor", &out, test_arg(&a), test_arg(&b));
  assert_true(wide.hi == most && wide.lo == most);
  RUN(kw_reference_f128, "mul.Tensor", &out, test_arg(&a), test_arg(&a));
  assert_true(wide.hi == most && wide.lo == most);
  kw_tensor_ref c = TENSOR(KW_F64, &infinite, 1);
  RUN(kw_reference_f128, "mul.Tensor", &out, test_arg(&a), test_arg(&c));
  assert_true(isinf(wide.hi) && wide.lo == 0);
  two = 1 + 0x1p-52;
  most = -most;
  RUN(kw_reference_f128, "mul.Tensor", &out, test_arg(&a), test_arg(&b));
  assert_true(wide.hi == most && wide.lo < -0x1p970 && wide.lo > -0x1p972);
}

/* How far from the exact result another implementation may be, in eps: see float_round_decimals_magnitude. */
static void bound_of_decimals(void **state) {
  (void)state;
  test_table table = kw_reference_f128;
  assert_true(value(table, "round.decimals/magnitude", 2.5, 0) == 0); /* nothing is scaled, so nothing may be off */
  assert_true(value(table, "round.decimals/magnitude", 3, -1) == 0);
  assert_true(fabs(value(table, "round.decimals/magnitude", 7, 1) - 42) < 1e-9);
  assert_true(value(table, "round.decimals/magnitude", 0.25, 1) * 0x1p-52 > 0.0999); /* a tie: the neighbour too */
  assert_true(value(table, "round.decimals/magnitude", 0.25 + 0x1p-48, 1) * 0x1p-52 < 1e-14);
}

static int64_t integer(kw_dtype dtype, const char *op, int64_t x, int64_t y) {
  char a[8], b[8], result[8];
  kw_number_store_int(dtype, a, x);
  kw_number_store_int(dtype, b, y);
  kw_tensor_ref ta = TENSOR(dtype, a, 1), tb = TENSOR(dtype, b, 1), out = TENSOR(dtype, result, 1);
  RUN(kw_reference_f32, op, &out, test_arg(&ta), test_arg(&tb));
  return kw_number_load_int(dtype, result);
}

static void integers(void **state) {
  (void)state;
  static const char *const unchanged[] = {"ceil", "floor", "round", "trunc"};
  for (size_t i = 0; i < 4; i++) assert_int_equal(integer(KW_I64, unchanged[i], INT64_MAX - 1, 0), INT64_MAX - 1);
  assert_int_equal(integer(KW_I8, "sign", -128, 0), -1);
  assert_int_equal(integer(KW_U8, "sign", 200, 0), 1);
  assert_int_equal(integer(KW_BOOL, "sign", 1, 0), 1);
  assert_int_equal(integer(KW_I32, "fmod.Tensor", -7, 4), -3);
  assert_int_equal(integer(KW_I32, "fmod.Tensor", 7, 0), 0);
  assert_int_equal(integer(KW_I64, "fmod.Tensor", INT64_MIN, -1), 0);
  assert_int_equal(integer(KW_I32, "remainder.Tensor", -7, 4), 1);
  assert_int_equal(integer(KW_I32, "remainder.Tensor", 7, -4), -1);
  assert_int_equal(integer(KW_I32, "remainder.Tensor", -8, 4), 0);
  assert_int_equal(integer(KW_I64, "remainder.Tensor", INT64_MIN, 0), 0);
  assert_int_equal(integer(KW_I8, "bitwise_left_shift.Tensor", 3, 6), -64);
  assert_int_equal(integer(KW_I8, "bitwise_left_shift.Tensor", 1, 8), 0);
  assert_int_equal(integer(KW_I64, "bitwise_left_shift.Tensor", 1, 64), 0);
  assert_int_equal(integer(KW_I64, "bitwise_left_shift.Tensor", 1, 63), INT64_MIN);
  assert_int_equal(integer(KW_I16, "bitwise_left_shift.Tensor", 1, -1), 0);
  assert_int_equal(integer(KW_I8, "bitwise_right_shift.Tensor", -5, 1), -3);
  assert_int_equal(integer(KW_I8, "bitwise_right_shift.Tensor", -5, 9), -1);
  assert_int_equal(integer(KW_I8, "bitwise_right_shift.Tensor", -5, -1), -1);
  assert_int_equal(integer(KW_I64, "bitwise_right_shift.Tensor", 5, -1), 0);
  assert_int_equal(integer(KW_U8, "bitwise_right_shift.Tensor", 200, 3), 25);
  assert_int_equal(integer(KW_U8, "bitwise_right_shift.Tensor", 200, 100), 0);
}

static void predicates(void **state) {
  (void)state;
  float x[5] = {1, INFINITY, -INFINITY, NAN, 3.4e38f};
  int32_t n[5] = {0, 1, -1, INT32_MAX, INT32_MIN};
  uint8_t out[5];
  kw_tensor_ref floats = TENSOR(KW_F32, x, 5), ints = TENSOR(KW_I32, n, 5), result = TENSOR(KW_BOOL, out, 5);
  for (size_t t = 0; t < 3; t++) {
    RUN(tables[t], "isinf", &result, test_arg(&floats));
    assert_memory_equal(out, ((uint8_t[]){0, 1, 1, 0, 0}), 5);
    RUN(tables[t], "isnan", &result, test_arg(&floats));
    assert_memory_equal(out, ((uint8_t[]){0, 0, 0, 1, 0}), 5);
    RUN(tables[t], "isnan", &result, test_arg(&ints));
    assert_memory_equal(out, ((uint8_t[5]){0}), 5);
    RUN(tables[t], "isinf", &result, test_arg(&ints));
    assert_memory_equal(out, ((uint8_t[5]){0}), 5);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(known_values), cmocka_unit_test(past_the_range), cmocka_unit_test(bound_of_decimals),
      cmocka_unit_test(integers),     cmocka_unit_test(predicates),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
