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
  double out[3], one = 7;
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
  float out[6], sum = 7;
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

/* ---- Over classes ------------------------------------------------------------------------------------------------ */

static kw_status run_nll(test_table table, const kw_tensor_ref *out, const kw_tensor_ref *total, const kw_value *args) {
  const kw_tensor_ref *outs[] = {out, total};
  const kw_call call = {
      .struct_size = sizeof call, .arg_count = 5, .out_count = 2, .op = "nll_loss_forward", .args = args, .outs = outs};
  return test_call(table, &call);
}

/* Three targets, the second ignored; weights 2, 3 and 4. */
static void test_nll(void **state) {
  (void)state;
  const double x[9] = {-1, -2, -3, -4, -5, -6, -7, -8, -9}, w[3] = {2, 3, 4};
  const int64_t targets[3] = {2, 1, 0};
  double out[3], one = 7, total = 7;
  kw_tensor_ref self = TENSOR(KW_F64, x, 3, 3), target = TENSOR(KW_I64, targets, 3), weight = TENSOR(KW_F64, w, 3);
  kw_tensor_ref each = TENSOR(KW_F64, out, 3), reduced = RANK0(KW_F64, &one), sum = RANK0(KW_F64, &total);
  for (size_t t = 0; t < 3; t++) {
    kw_value args[5] = {test_arg(&self), test_arg(&target), test_arg(&weight), int_arg(0), int_arg(1)};
    assert_int_equal(run_nll(tables[t], &each, &sum, args), KW_OK);
    assert_near(out, (double[]){12, 0, 14}, 3, 0);
    assert_true(total == 0);
    args[3] = int_arg(2);
    assert_int_equal(run_nll(tables[t], &reduced, &sum, args), KW_OK);
    assert_true(one == 26 && total == 6);
    args[3] = int_arg(1);
    args[2] = test_none();
    assert_int_equal(run_nll(tables[t], &reduced, &sum, args), KW_OK);
    assert_true(one == 5 && total == 2);
  }
}

/* [1, 2, 1, 2]: the classes lie between other dimensions. */
static void test_nll_of_images(void **state) {
  (void)state;
  const float x[4] = {1, 2, 3, 4};
  const int32_t targets[2] = {1, 0};
  float out[2], total = 7;
  kw_tensor_ref self = TENSOR(KW_F32, x, 1, 2, 1, 2), target = TENSOR(KW_I32, targets, 1, 1, 2);
  kw_tensor_ref each = TENSOR(KW_F32, out, 1, 1, 2), sum = RANK0(KW_F32, &total);
  const kw_value args[5] = {test_arg(&self), test_arg(&target), test_none(), int_arg(0), int_arg(-100)};
  assert_int_equal(run_nll(kw_reference_f32, &each, &sum, args), KW_OK);
  assert_true(out[0] == -3 && out[1] == -2);
}

/* A class out of range is told, and leaves what is there. */
static void test_nll_out_of_range(void **state) {
  (void)state;
  const float x[6] = {1, 2, 3, 4, 5, 6};
  const int64_t targets[2] = {1, 3};
  float out[2] = {7, 7}, total;
  uint32_t word = 0;
  kw_tensor_ref self = TENSOR(KW_F32, x, 2, 3), target = TENSOR(KW_I64, targets, 2);
  kw_tensor_ref each = TENSOR(KW_F32, out, 2), sum = RANK0(KW_F32, &total);
  const kw_value args[5] = {test_arg(&self), test_arg(&target), test_none(), int_arg(0), int_arg(-100)};
  const kw_tensor_ref *outs[] = {&each, &sum};
  test_error = &word;
  const kw_call call = {.struct_size = sizeof call,
                        .arg_count = 5,
                        .out_count = 2,
                        .op = "nll_loss_forward",
                        .args = args,
                        .outs = outs,
                        .extra = TEST_EXTRA};
  assert_int_equal(test_call(kw_reference_f32, &call), KW_OK);
  test_error = NULL;
  assert_int_equal(word, TEST_ERROR_CODE + 1);
  assert_true(out[0] == -2 && out[1] == 7);
}

static void test_nll_backward(void **state) {
  (void)state;
  const double x[6] = {0}, g[2] = {1, 3}, w[3] = {2, 3, 4}, total = 8, one = 4;
  const int64_t targets[2] = {2, 0};
  double out[6];
  kw_tensor_ref self = TENSOR(KW_F64, x, 2, 3), target = TENSOR(KW_I64, targets, 2), weight = TENSOR(KW_F64, w, 3);
  kw_tensor_ref grad = TENSOR(KW_F64, g, 2), point = RANK0(KW_F64, &one), sum = RANK0(KW_F64, &total);
  kw_tensor_ref result = TENSOR(KW_F64, out, 2, 3);
  for (size_t t = 0; t < 3; t++) {
    RUN(tables[t], "nll_loss_backward", &result, test_arg(&grad), test_arg(&self), test_arg(&target), test_none(),
        int_arg(0), int_arg(-100), test_arg(&sum));
    assert_near(out, (double[]){0, 0, -1, -3, 0, 0}, 6, 0);
    RUN(tables[t], "nll_loss_backward", &result, test_arg(&point), test_arg(&self), test_arg(&target),
        test_arg(&weight), int_arg(1), int_arg(0), test_arg(&sum));
    assert_near(out, (double[]){0, 0, -2, 0, 0, 0}, 6, 0);
  }
}

/* Of two equal scores each class has probability 1/2. */
static void test_cross_entropy(void **state) {
  (void)state;
  const double ln2 = 0.69314718055994531, x[4] = {5, 5, 1000, 1000}, p[4] = {0.25, 0.25, 1, 0}, w[2] = {1, 3};
  const int64_t targets[2] = {1, 0};
  double out[2], one = 7;
  kw_tensor_ref self = TENSOR(KW_F64, x, 2, 2), target = TENSOR(KW_I64, targets, 2), told = TENSOR(KW_F64, p, 2, 2);
  kw_tensor_ref weight = TENSOR(KW_F64, w, 2), each = TENSOR(KW_F64, out, 2), reduced = RANK0(KW_F64, &one);
  for (size_t t = 0; t < 3; t++) {
    double bound = t == 0 ? 4e-7 : 4e-16;
    RUN(tables[t], "cross_entropy_loss", &each, test_arg(&self), test_arg(&target), test_arg(&weight), int_arg(0),
        int_arg(-100), float_arg(0));
    assert_near(out, (double[]){3 * ln2, ln2}, 2, bound);
    RUN(tables[t], "cross_entropy_loss", &each, test_arg(&self), test_arg(&target), test_arg(&weight), int_arg(0),
        int_arg(0), float_arg(0.5));
    assert_near(out, (double[]){2.5 * ln2, 0}, 2, bound); /* 3/2 and a quarter of 1 + 3 */
    RUN(tables[t], "cross_entropy_loss", &reduced, test_arg(&self), test_arg(&target), test_arg(&weight), int_arg(1),
        int_arg(-100), float_arg(0));
    assert_near(&one, &ln2, 1, bound);
    RUN(tables[t], "cross_entropy_loss", &each, test_arg(&self), test_arg(&told), test_none(), int_arg(0),
        int_arg(-100), float_arg(0));
    assert_near(out, (double[]){ln2 / 2, ln2}, 2, bound);
    RUN(tables[t], "cross_entropy_loss", &reduced, test_arg(&self), test_arg(&told), test_none(), int_arg(1),
        int_arg(-100), float_arg(1));
    assert_near(&one, &ln2, 1, bound); /* even shares */
  }
}

static void test_embedding_backward(void **state) {
  (void)state;
  const double g[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  const int64_t indices[4] = {2, 0, 2, 1};
  double out[8];
  kw_tensor_ref grad = TENSOR(KW_F64, g, 4, 2), index = TENSOR(KW_I64, indices, 4), result = TENSOR(KW_F64, out, 4, 2);
  const kw_value no = {.tag = KW_TAG_BOOL}, yes = {.tag = KW_TAG_BOOL, .u.b = true};
  for (size_t t = 0; t < 3; t++) {
    RUN(tables[t], "embedding_dense_backward", &result, test_arg(&grad), test_arg(&index), int_arg(4), int_arg(1), no);
    assert_near(out, (double[]){3, 4, 0, 0, 6, 8, 0, 0}, 8, 0);
    RUN(tables[t], "embedding_dense_backward", &result, test_arg(&grad), test_arg(&index), int_arg(4), int_arg(-1),
        yes);
    assert_near(out, (double[]){3, 4, 7, 8, 3, 4, 0, 0}, 8, 0);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_mse),
      cmocka_unit_test(test_losses_broadcast),
      cmocka_unit_test(test_huber),
      cmocka_unit_test(test_logits),
      cmocka_unit_test(test_mse_backward),
      cmocka_unit_test(test_nll),
      cmocka_unit_test(test_nll_of_images),
      cmocka_unit_test(test_nll_out_of_range),
      cmocka_unit_test(test_nll_backward),
      cmocka_unit_test(test_cross_entropy),
      cmocka_unit_test(test_embedding_backward),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
