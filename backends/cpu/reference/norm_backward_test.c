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

/* ---- Normalisation ----------------------------------------------------------------------------------------------- */

/* x normalised is -1, 1, -1, 1 with mean 5 and rstd 2. */
static const double x[4] = {4.5, 5.5, 4.5, 5.5}, plain[4] = {-0.5, 0.5, -0.5, 0.5}, grad[4] = {1, 2, 3, 6};
static const double five = 5, two = 2, quarter = 0.25;
static double of_input[4], of_weight[4], of_bias[4];
static const int64_t four[1] = {4}, all[3] = {1, 1, 1};

static kw_value int_list(const int64_t *ints, uint32_t count) {
  return (kw_value){.tag = KW_TAG_INT_LIST, .count = count, .u.ints = ints};
}

static void run_backward(test_table table, const char *op, const kw_tensor_ref *outs, uint32_t count,
                         const kw_value *args, uint32_t arg_count) {
  const kw_tensor_ref *pointers[] = {outs[0].mem ? &outs[0] : NULL, outs[1].mem ? &outs[1] : NULL, &outs[2]};
  kw_call call = {.struct_size = sizeof call, .arg_count = arg_count, .out_count = count, .op = op, .args = args};
  call.outs = pointers;
  assert_int_equal(test_call(table, &call), KW_OK);
}

static void test_layer_norm_backward(void **state) {
  (void)state;
  kw_tensor_ref g = TENSOR(KW_F64, grad, 1, 4), in = TENSOR(KW_F64, x, 1, 4);
  kw_tensor_ref mean = TENSOR(KW_F64, &five, 1, 1), rstd = TENSOR(KW_F64, &two, 1, 1);
  kw_tensor_ref outs[3] = {TENSOR(KW_F64, of_input, 1, 4), TENSOR(KW_F64, of_weight, 4), TENSOR(KW_F64, of_bias, 4)};
  const kw_value args[8] = {test_arg(&g),    test_arg(&in), int_list(four, 1), test_arg(&mean),
                            test_arg(&rstd), test_none(),   test_none(),       int_list(all, 3)};
  for (size_t t = 0; t < 3; t++) {
    run_backward(tables[t], "native_layer_norm_backward", outs, 3, args, 8);
    assert_near(of_input, (double[]){-2, -4, 2, 4}, 4, 0);
    assert_near(of_weight, (double[]){-1, 2, -3, 6}, 4, 0);
    assert_near(of_bias, grad, 4, 0);
  }
  outs[0].mem = outs[1].mem = NULL; /* absent */
  memset(of_bias, 0, sizeof of_bias);
  run_backward(tables[1], "native_layer_norm_backward", outs, 3, args, 8);
  assert_near(of_bias, grad, 4, 0);
}

static void test_rms_norm_backward(void **state) {
  (void)state;
  kw_tensor_ref g = TENSOR(KW_F64, grad, 1, 4), in = TENSOR(KW_F64, plain, 1, 4), rstd = TENSOR(KW_F64, &two, 1, 1);
  const kw_tensor_ref outs[3] = {TENSOR(KW_F64, of_input, 1, 4), TENSOR(KW_F64, of_weight, 4)};
  const kw_value args[6] = {test_arg(&g),    test_arg(&in), int_list(four, 1),
                            test_arg(&rstd), test_none(),   int_list(all, 2)};
  for (size_t t = 0; t < 3; t++) {
    run_backward(tables[t], "_fused_rms_norm_backward", outs, 2, args, 6);
    assert_near(of_input, (double[]){4, 2, 8, 10}, 4, 0);
    assert_near(of_weight, (double[]){-1, 2, -3, 6}, 4, 0);
  }
}

/* One group of four channels, and one channel of four samples. */
static void test_channel_norm_backward(void **state) {
  (void)state;
  const kw_value count = dim_arg(1), channels = dim_arg(4);
  kw_tensor_ref g = TENSOR(KW_F64, grad, 1, 4), in = TENSOR(KW_F64, x, 1, 4);
  kw_tensor_ref mean = TENSOR(KW_F64, &five, 1, 1), rstd = TENSOR(KW_F64, &two, 1, 1);
  kw_tensor_ref outs[3] = {TENSOR(KW_F64, of_input, 1, 4), TENSOR(KW_F64, of_weight, 4), TENSOR(KW_F64, of_bias, 4)};
  const kw_value group[10] = {test_arg(&g), test_arg(&in), test_arg(&mean), test_arg(&rstd), test_none(),
                              count,        channels,      count,           count,           int_list(all, 3)};
  kw_tensor_ref tall = TENSOR(KW_F64, grad, 4, 1), high = TENSOR(KW_F64, x, 4, 1), line = TENSOR(KW_F64, &five, 1);
  kw_tensor_ref inv = TENSOR(KW_F64, &two, 1), variance = TENSOR(KW_F64, &quarter, 1);
  kw_tensor_ref batch_outs[3] = {TENSOR(KW_F64, of_input, 4, 1), TENSOR(KW_F64, of_weight, 1),
                                 TENSOR(KW_F64, of_bias, 1)};
  const kw_value yes = {.tag = KW_TAG_BOOL, .u.b = true}, no = {.tag = KW_TAG_BOOL};
  const kw_value eps = {.tag = KW_TAG_FLOAT};
  const kw_value train[10] = {test_arg(&tall), test_arg(&high), test_none(), test_none(), test_none(),
                              test_arg(&line), test_arg(&inv),  yes,         eps,         int_list(all, 3)};
  const kw_value eval[10] = {test_arg(&tall),
                             test_arg(&high),
                             test_arg(&line),
                             test_arg(&line),
                             test_arg(&variance),
                             test_none(),
                             test_none(),
                             no,
                             eps,
                             int_list(all, 3)};
  for (size_t t = 0; t < 3; t++) {
    run_backward(tables[t], "native_group_norm_backward", outs, 3, group, 10);
    assert_near(of_input, (double[]){-2, -4, 2, 4}, 4, 0);
    assert_near(of_weight, (double[]){-1, 2, -3, 6}, 4, 0);
    assert_near(of_bias, grad, 4, 0);
    run_backward(tables[t], "native_batch_norm_backward", batch_outs, 3, train, 10);
    assert_near(of_input, (double[]){-2, -4, 2, 4}, 4, 0);
    assert_true(of_weight[0] == 4 && of_bias[0] == 12);
    run_backward(tables[t], "native_batch_norm_backward", batch_outs, 3, eval, 10);
    assert_near(of_input, (double[]){10, 20, 30, 60}, 4, 0); /* weight 5, rstd 2 */
    assert_true(of_weight[0] == 4 && of_bias[0] == 12);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_softmax_backward),      cmocka_unit_test(test_softmax_backward_to_half),
      cmocka_unit_test(test_layer_norm_backward),   cmocka_unit_test(test_rms_norm_backward),
      cmocka_unit_test(test_channel_norm_backward),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
