/* SPDX-License-Identifier: Apache-2.0
 *
 * Activations, their backward ops, fused arithmetic, masked_fill.
 */
#include "test_call.h"

#include <math.h>
#include <stdio.h>

static const test_table tables[] = {kw_reference_f32, kw_reference_f64, kw_reference_f128};

/* A row: an op, its arguments in order, and its value. Arguments: t tensor, s Scalar, b bool, in `kinds`. */
static const struct {
  const char *op, *kinds;
  double args[6], expected; /* expected: 21 digits from a multiple-precision library; arguments are exact in f32 */
} rows[] = {
    {"hardtanh", "tss", {3, -1, 2}, 2},
    {"hardtanh", "tss", {0, 1, -1}, -1},
    {"hardtanh", "tss", {NAN, -1, 1}, NAN},
    {"leaky_relu", "ts", {-3, 0.25}, -0.75},
    {"leaky_relu", "ts", {3, 0.25}, 3},
    {"leaky_relu", "ts", {-INFINITY, 0}, NAN},
    {"elu", "tsss", {2, 3, 0.5, 1}, 1},
    {"elu", "tsss", {-1, 3, 0.5, 2}, -1.29699707514508096216},
    {"elu", "tsss", {-0x1p-60, 1, 1, 1}, -0x1p-60},
    {"elu", "tsss", {-INFINITY, 3, 0.5, 2}, -1.5},
    {"softplus", "tss", {0, 1, 20}, 0.693147180559945309417},
    {"softplus", "tss", {-50, 1, 20}, 1.92874984796391778302e-22},
    {"softplus", "tss", {2, 2, 3}, 2},
    {"softplus", "tss", {1, 2, 20}, 1.06346400552148624822},
    {"softplus", "tss", {200, 1, 1000}, 200},
    {"softplus", "tss", {-INFINITY, 1, 20}, 0},
    {"hardswish", "t", {1}, 0.666666666666666666667},
    {"hardswish", "t", {-1.5}, -0.375},
    {"hardswish", "t", {4}, 4},
    {"hardswish", "t", {0x1.8p127}, 0x1.8p127},
    {"hardswish", "t", {-INFINITY}, NAN},
    {"threshold", "tss", {1, 1, 7}, 7},
    {"threshold", "tss", {1.5, 1, 7}, 1.5},
    {"threshold", "tss", {NAN, 1, 7}, NAN},
    {"addcmul", "ttts", {1, 2, 3, 0.5}, 4},
    {"addcdiv", "ttts", {1, 2, 3, 0.5}, 1.33333333333333333333},
    {"addcdiv", "ttts", {1, -2, 0, 1}, -INFINITY},
    {"lerp.Scalar", "tts", {1, 3, 0.25}, 1.5},
    {"lerp.Scalar", "tts", {1, 3, 1}, 3},
    {"lerp.Tensor", "ttt", {1, 3, -0.5}, 0},
    {"lerp.Tensor", "ttt", {1, INFINITY, 0.25}, INFINITY},
    {"lerp.Tensor", "ttt", {1, INFINITY, 0.75}, NAN},
    {"sigmoid_backward", "tt", {3, 0.25}, 0.5625},
    {"tanh_backward", "tt", {3, 0.5}, 2.25},
    {"silu_backward", "tt", {2, 0}, 1},
    {"silu_backward", "tt", {1, 1}, 0.927670511871486731789},
    {"silu_backward", "tt", {1, -30}, -2.71371066096313400129e-12},
    {"silu_backward", "tt", {1, 0x1p100}, 1},
    {"silu_backward", "tt", {1, INFINITY}, NAN},
    {"threshold_backward", "tts", {5, 1, 1}, 0},
    {"threshold_backward", "tts", {5, 2, 1}, 5},
    {"threshold_backward", "tts", {5, NAN, 1}, 5},
    {"leaky_relu_backward", "ttsb", {5, -2, 0.5, 0}, 2.5},
    {"leaky_relu_backward", "ttsb", {5, 2, 0.5, 1}, 5},
    {"elu_backward", "tsssbt", {5, 3, 0.5, 2, 0, 1}, 2.5},
    {"elu_backward", "tsssbt", {5, 3, 0.5, 2, 0, -1}, 2.03002924854919037841},
    {"elu_backward", "tsssbt", {5, 3, 0.5, 2, 1, -1}, 5},
    {"elu_backward", "tsssbt", {5, 3, 0.5, 2, 0, 0}, 15},
    {"hardtanh_backward", "ttss", {5, -1, -1, 2}, 0},
    {"hardtanh_backward", "ttss", {5, 1, -1, 2}, 5},
    {"hardtanh_backward", "ttss", {5, NAN, -1, 2}, 5},
    {"softplus_backward", "ttss", {2, 1, 2, 20}, 1.76159415595576488812},
    {"softplus_backward", "ttss", {2, 1, 2, 1.5}, 2},
    {"softplus_backward", "ttss", {2, -200, 1, 20}, 2.7677930534734750613e-87},
};

static double value(test_table table, const char *op, const char *kinds, const double *numbers) {
  kw_tensor_ref tensors[6];
  kw_value args[6];
  kw_wide wide = {0};
  kw_tensor_ref out = TENSOR(KW_DTYPE_WIDE, &wide, 1);
  uint32_t count = (uint32_t)strlen(kinds);
  for (uint32_t i = 0; i < count; i++) {
    tensors[i] = TENSOR(KW_F64, &numbers[i], 1);
    args[i] = kinds[i] == 't'   ? test_arg(&tensors[i])
              : kinds[i] == 's' ? test_float(numbers[i])
                                : (kw_value){.tag = KW_TAG_BOOL, .u.b = numbers[i] != 0};
  }
  assert_int_equal(test_try(table, op, &out, count, args), KW_OK);
  return wide.lo == 0 ? wide.hi : wide.hi + wide.lo;
}

static bool close_to(double got, double expected, double bound, double tiny) {
  if (isnan(expected)) return isnan(got);
  if (isinf(expected)) return got == expected;
  return fabs(got - expected) <= bound * fabs(expected) + tiny;
}

static void known_values(void **state) {
  (void)state;
  static const double bounds[] = {1e-6, 2e-15, 1.2e-16}, tiny[] = {0x1p-149, 0, 0};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    for (size_t t = 0; t < 3; t++) {
      double got = value(tables[t], rows[i].op, rows[i].kinds, rows[i].args);
      if (!close_to(got, rows[i].expected, bounds[t], tiny[t]))
        fail_msg("%s, row %zu: %.17g in table %zu, expected %.17g", rows[i].op, i, got, t, rows[i].expected);
    }
  }
}

static double gelu_backward(test_table table, const char *op, double x, const char *approximate) {
  double grad = 2;
  kw_wide wide = {0};
  kw_tensor_ref out = TENSOR(KW_DTYPE_WIDE, &wide, 1), g = TENSOR(KW_F64, &grad, 1), self = TENSOR(KW_F64, &x, 1);
  RUN(table, op, &out, test_arg(&g), test_arg(&self), test_string(approximate));
  return wide.hi + wide.lo;
}

static void both_forms_of_gelu(void **state) {
  (void)state;
  for (size_t t = 0; t < 3; t++) {
    double bound = t == 0 ? 1e-6 : 4e-15;
    assert_true(fabs(gelu_backward(tables[t], "gelu_backward", 1, "none") - 2.16663094117537259677) <= bound);
    assert_true(fabs(gelu_backward(tables[t], "gelu_backward", -2, "none") - -0.170463602156393793402) <= bound);
    assert_true(fabs(gelu_backward(tables[t], "gelu_backward", 1, "tanh") - 2.16592816769156511028) <= bound);
    const double tail = 2 * -7.61840009646481409e-22, tanh_tail = 2 * -2.76511735070660192e-14,
                 share = t == 0 ? 4e-5 : 1e-13;
    assert_true(fabs(gelu_backward(tables[t], "gelu_backward", -10, "none") - tail) <= share * fabs(tail));
    assert_true(fabs(gelu_backward(tables[t], "gelu_backward", -7, "tanh") - tanh_tail) <= share * fabs(tanh_tail));
    assert_true(gelu_backward(tables[t], "gelu_backward", 100, "tanh") == 2);
    assert_true(isnan(gelu_backward(tables[t], "gelu_backward", INFINITY, "none")));
  }
  /* In f32 the cube is out of range, and what comes of it is allowed for in the suite. */
  assert_true(isnan(gelu_backward(kw_reference_f32, "gelu_backward", 0x1p120, "tanh")));
  assert_true(gelu_backward(kw_reference_f64, "gelu_backward", 0x1p120, "tanh") == 2);
  assert_true(fabs(gelu_backward(kw_reference_f64, "gelu_backward/magnitude", 3, "none") - 36.403452208879) < 1e-9);
  assert_true(fabs(gelu_backward(kw_reference_f64, "gelu_backward/magnitude", 3, "tanh") - 29.5374002851629) < 1e-9);
}

/* How far another implementation may be, in eps: what is exact stays exact, and a step is allowed where it is near. */
static void bounds(void **state) {
  (void)state;
  test_table table = kw_reference_f128;
  assert_true(value(table, "softplus/magnitude", "tss", (double[]){30, 1, 20}) == 0);
  assert_true(value(table, "softplus_backward/magnitude", "ttss", (double[]){2, 30, 1, 20}) == 0);
  assert_true(value(table, "softplus/magnitude", "tss", (double[]){20, 1, 20}) * 0x1p-52 > 2e-9);
  double near = value(table, "softplus/magnitude", "tss", (double[]){19, 1, 20});
  assert_true(near > 19 * 29 && near < 19 * 29.01);
  assert_true(value(table, "elu/magnitude", "tsss", (double[]){3, 1, 2, 1}) == 6);
  assert_true(value(table, "tanh_backward/magnitude", "tt", (double[]){2, 1}) == 2);
  assert_true(fabs(value(table, "lerp.Scalar/magnitude", "tts", (double[]){1, -3, 0.5}) - 12) < 1e-9);
  assert_true(value(table, "lerp.Tensor/magnitude", "ttt", (double[]){1, -3, 1}) == 0);
  assert_true(fabs(value(table, "addcdiv/magnitude", "ttts", (double[]){1, 2, -4, 1}) - 3) < 1e-9);
}

static void integers(void **state) {
  (void)state;
  int8_t x[3] = {100, -5, 2}, y[3] = {100, 7, 3}, out[3];
  kw_tensor_ref a = TENSOR(KW_I8, x, 3), b = TENSOR(KW_I8, y, 3), result = TENSOR(KW_I8, out, 3);
  RUN(kw_reference_f32, "addcmul", &result, test_arg(&a), test_arg(&b), test_arg(&b), test_int(2));
  assert_memory_equal(out, ((int8_t[]){(int8_t)(uint8_t)(100 + 20000), 93, 20}), 3);
  RUN(kw_reference_f32, "threshold", &result, test_arg(&a), test_int(2), test_int(9));
  assert_memory_equal(out, ((int8_t[]){100, 9, 9}), 3);
  RUN(kw_reference_f32, "threshold_backward", &result, test_arg(&b), test_arg(&a), test_int(0));
  assert_memory_equal(out, ((int8_t[]){100, 0, 3}), 3);
  RUN(kw_reference_f32, "hardtanh", &result, test_arg(&a), test_int(-300), test_int(6));
  assert_memory_equal(out, ((int8_t[]){6, -5, 2}), 3);
}

static void masks(void **state) {
  (void)state;
  uint32_t nan = 0x7fa12345, x[3] = {nan, nan, 0x3f800000}, out[3];
  uint8_t chosen[3] = {0, 1, 1};
  double seven = 7;
  float expected = 7;
  kw_tensor_ref self = TENSOR(KW_F32, x, 3), mask = TENSOR(KW_BOOL, chosen, 3), result = TENSOR(KW_F32, out, 3);
  kw_tensor_ref point = RANK0(KW_F64, &seven);
  for (int scalar = 0; scalar < 2; scalar++) {
    kw_value fill = scalar ? test_float(7) : test_arg(&point);
    const char *op = scalar ? "masked_fill.Scalar" : "masked_fill.Tensor";
    RUN(kw_reference_f32, op, &result, test_arg(&self), test_arg(&mask), fill);
    assert_int_equal(out[0], nan); /* payloads of signalling NaNs included */
    assert_memory_equal(&out[1], &expected, 4);
    assert_memory_equal(&out[2], &expected, 4);
    kw_tensor_ref bytes = TENSOR(KW_U8, chosen, 3);
    assert_int_equal(TRY(kw_reference_f32, op, &result, test_arg(&self), test_arg(&bytes), fill),
                     KW_ERR_INVALID_ARGUMENT);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(known_values), cmocka_unit_test(both_forms_of_gelu),
      cmocka_unit_test(bounds),       cmocka_unit_test(integers),
      cmocka_unit_test(masks),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
