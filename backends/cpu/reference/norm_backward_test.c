/* SPDX-License-Identifier: Apache-2.0
 *
 * Backwards of softmax and normalisation. Expected numbers were worked out by hand.
 */
#include "test_call.h"

#include <math.h>

static const test_table tables[] = {kw_reference_f32, kw_reference_f64, kw_reference_f128};

static kw_value dim_arg(int64_t dim) {
  return (kw_value){.tag = KW_TAG_INT, .u.i = dim};
}

static kw_value dtype_arg(kw_dtype dtype) {
  return (kw_value){.tag = KW_TAG_DTYPE, .u.dtype = dtype};
}

static void assert_near(const double *got, const double *expected, size_t count, double bound) {
  for (size_t i = 0; i < count; i++) {
    if (!(fabs(got[i] - expected[i]) <= bound)) fail_msg("element %zu is %.17g, not %.17g", i, got[i], expected[i]);
  }
}

/* Columns: two rows of two along dimension 0, the second in reverse. */
static void test_softmax_backward(void **state) {
  (void)state;
  const double y[4] = {0.25, 0.75, 0.75, 0.25}, grad[4] = {1, 3, 3, 1}, logs[4] = {log(0.25), 0, log(0.75), 0};
  const double log_grad[4] = {1, 2, 0, 4};
  double out[4];
  kw_tensor_ref g = TENSOR(KW_F64, grad, 2, 2), o = TENSOR(KW_F64, y, 2, 2), result = TENSOR(KW_F64, out, 2, 2);
  kw_tensor_ref lg = TENSOR(KW_F64, log_grad, 2, 2), lo = TENSOR(KW_F64, logs, 2, 2);
  for (size_t t = 0; t < 3; t++) {
    RUN(tables[t], "_softmax_backward_data", &result, test_arg(&g), test_arg(&o), dim_arg(0), dtype_arg(KW_F64));
    assert_near(out, (double[]){-0.375, 0.375, 0.375, -0.375}, 4, 0);
    RUN(tables[t], "_log_softmax_backward_data", &result, test_arg(&lg), test_arg(&lo), dim_arg(-2), dtype_arg(KW_F64));
    assert_near(out, (double[]){0.75, -4, -0.75, -2}, 4, t == 0 ? 1e-6 : 1e-15);
  }
}

/* The gradient of an f16 input whose softmax is f32. */
static void test_softmax_backward_to_half(void **state) {
  (void)state;
  const float y[2] = {0.25, 0.75}, grad[2] = {1, 3};
  uint16_t out[2];
  kw_tensor_ref g = TENSOR(KW_F32, grad, 2), o = TENSOR(KW_F32, y, 2), result = TENSOR(KW_F16, out, 2);
  RUN(kw_reference_f32, "_softmax_backward_data", &result, test_arg(&g), test_arg(&o), dim_arg(0), dtype_arg(KW_F16));
  assert_int_equal(out[0], 0xb600); /* -0.375 */
  assert_int_equal(out[1], 0x3600);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_softmax_backward),
      cmocka_unit_test(test_softmax_backward_to_half),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
