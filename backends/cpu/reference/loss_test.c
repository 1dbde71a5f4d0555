/* SPDX-License-Identifier: Apache-2.0
 *
 * Losses and their backwards. Expected numbers were worked out by hand.
 */
#include "test_call.h"

#include <math.h>

static const test_table tables[] = {kw_reference_f32, kw_reference_f64, kw_reference_f128};

static kw_value int_arg(int64_t i) {
  return (kw_value){.tag = KW_TAG_INT, .u.i = i};
}

static kw_value float_arg(double f) {
  return (kw_value){.tag = KW_TAG_FLOAT, .u.f = f};
}

static void assert_near(const double *got, const double *expected, size_t count, double bound) {
  for (size_t i = 0; i < count; i++) {
    if (isnan(expected[i])) assert_true(isnan(got[i]));
    if (!isnan(expected[i]) && !(fabs(got[i] - expected[i]) <= bound * fabs(expected[i]))) {
      fail_msg("element %zu is %.17g, not %.17g", i, got[i], expected[i]);
    }
  }
}

static void test_mse(void **state) {
  (void)state;
  const double x[3] = {1, 2, 3}, y[3] = {0, 4, 3.5}, each[3] = {1, 4, 0.25};
  double out[3], one;
  kw_tensor_ref a = TENSOR(KW_F64, x, 3), b = TENSOR(KW_F64, y, 3), result = TENSOR(KW_F64, out, 3);
  kw_tensor_ref reduced = RANK0(KW_F64, &one), nothing = TENSOR(KW_F64, NULL, 0);
  for (size_t t = 0; t < 3; t++) {
    RUN(tables[t], "mse_loss", &result, test_arg(&a), test_arg(&b), int_arg(0));
    assert_near(out, each, 3, 0);
    RUN(tables[t], "mse_loss", &reduced, test_arg(&a), test_arg(&b), int_arg(1));
    assert_near(&one, (double[]){1.75}, 1, 0);
    RUN(tables[t], "mse_loss", &reduced, test_arg(&a), test_arg(&b), int_arg(2));
    assert_near(&one, (double[]){5.25}, 1, 0);
    RUN(tables[t], "mse_loss", &reduced, test_arg(&nothing), test_arg(&nothing), int_arg(1));
    assert_true(isnan(one));
    RUN(tables[t], "mse_loss", &reduced, test_arg(&nothing), test_arg(&nothing), int_arg(2));
    assert_true(one == 0);
  }
}

/* [2, 1] against [3]: six losses. */
static void test_losses_broadcast(void **state) {
  (void)state;
  const float x[2] = {1, 3}, y[3] = {0, 1, 4};
  float out[6], sum;
  kw_tensor_ref a = TENSOR(KW_F32, x, 2, 1), b = TENSOR(KW_F32, y, 3), result = TENSOR(KW_F32, out, 2, 3);
  kw_tensor_ref reduced = RANK0(KW_F32, &sum);
  RUN(kw_reference_f32, "mse_loss", &result, test_arg(&a), test_arg(&b), int_arg(0));
  const float each[6] = {1, 0, 9, 9, 4, 1};
  assert_memory_equal(out, each, sizeof each);
  RUN(kw_reference_f32, "mse_loss", &reduced, test_arg(&a), test_arg(&b), int_arg(1));
  assert_true(sum == 4);
}

static void test_huber(void **state) {
  (void)state;
  const double x[4] = {1, 2, 3, 0.25}, y[4] = {0, 4, 3.5, 0}, each[4] = {0.375, 0.875, 0.125, 0.03125};
  double out[4];
  kw_tensor_ref a = TENSOR(KW_F64, x, 4), b = TENSOR(KW_F64, y, 4), result = TENSOR(KW_F64, out, 4);
  for (size_t t = 0; t < 3; t++) {
    RUN(tables[t], "huber_loss", &result, test_arg(&a), test_arg(&b), int_arg(0), float_arg(0.5));
    assert_near(out, each, 4, 0);
  }
}

static void test_logits(void **state) {
  (void)state;
  const double ln2 = 0.69314718055994531, x[5] = {0, 0, 1000, -1000, 1000}, y[5] = {0.5, 1, 0, 1, 1};
  const double plain[5] = {ln2, ln2, 1000, 1000, 0}, weighted[5] = {4 * ln2, 6 * ln2, 2000, 6000, 0};
  const double two = 2, three = 3;
  double out[5];
  kw_tensor_ref a = TENSOR(KW_F64, x, 5), b = TENSOR(KW_F64, y, 5), result = TENSOR(KW_F64, out, 5);
  kw_tensor_ref w = TENSOR(KW_F64, &two, 1), p = TENSOR(KW_F64, &three, 1);
  for (size_t t = 0; t < 3; t++) {
    double bound = t == 0 ? 2e-7 : 4e-16;
    RUN(tables[t], "binary_cross_entropy_with_logits", &result, test_arg(&a), test_arg(&b), test_none(), test_none(),
        int_arg(0));
    assert_near(out, plain, 5, bound);
    RUN(tables[t], "binary_cross_entropy_with_logits", &result, test_arg(&a), test_arg(&b), test_arg(&w), test_arg(&p),
        int_arg(0));
    assert_near(out, weighted, 5, bound);
  }
}

static void test_mse_backward(void **state) {
  (void)state;
  const double x[2] = {1, 4}, y[2] = {3, 3}, g[2] = {1, -2}, one = 8;
  double out[2];
  kw_tensor_ref a = TENSOR(KW_F64, x, 2), b = TENSOR(KW_F64, y, 2), grad = TENSOR(KW_F64, g, 2);
  kw_tensor_ref point = RANK0(KW_F64, &one), result = TENSOR(KW_F64, out, 2);
  for (size_t t = 0; t < 3; t++) {
    RUN(tables[t], "mse_loss_backward", &result, test_arg(&grad), test_arg(&a), test_arg(&b), int_arg(0));
    assert_near(out, (double[]){-4, -4}, 2, 0);
    RUN(tables[t], "mse_loss_backward", &result, test_arg(&point), test_arg(&a), test_arg(&b), int_arg(1));
    assert_near(out, (double[]){-16, 8}, 2, 0);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_mse),    cmocka_unit_test(test_losses_broadcast), cmocka_unit_test(test_huber),
      cmocka_unit_test(test_logits), cmocka_unit_test(test_mse_backward),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
