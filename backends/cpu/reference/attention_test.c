/* SPDX-License-Identifier: Apache-2.0
 *
 * Attention, with numbers that can be checked by hand: scores that are logarithms make weights that are fractions.
 */
#include "test_call.h"

#include <math.h>

static const test_table tables[] = {kw_reference_f32, kw_reference_f64, kw_reference_f128};

static kw_value float_arg(double f) {
  return (kw_value){.tag = KW_TAG_FLOAT, .u.f = f};
}

static kw_value int_arg(int64_t i) {
  return (kw_value){.tag = KW_TAG_INT, .u.i = i};
}

static kw_value bool_arg(bool b) {
  return (kw_value){.tag = KW_TAG_BOOL, .u.b = b};
}

static void assert_near(const double *got, const double *want, size_t count) {
  for (size_t i = 0; i < count; i++) {
    bool same = isfinite(want[i]) ? fabs(got[i] - want[i]) <= 1e-6 : isnan(want[i]) ? isnan(got[i]) : got[i] == want[i];
    if (!same) fail_msg("element %zu is %.17g, not %.17g", i, got[i], want[i]);
  }
}

/* Runs an op with two results, or three. */
static kw_status call_op(test_table table, const char *op, const kw_tensor_ref *outs, uint32_t count,
                         const kw_value *args, uint32_t arg_count) {
  const kw_tensor_ref *pointers[3] = {&outs[0], &outs[1], &outs[2]};
  kw_call call = {.struct_size = sizeof call, .arg_count = arg_count, .out_count = count, .op = op};
  call.args = args;
  call.outs = pointers;
  call.extra = TEST_EXTRA;
  return test_call(table, &call);
}

/* One query of width 1, whose scores are the keys: log 1, log 2, log 5. */
static const double one = 1, logs[3] = {0, 0.69314718055994531, 1.6094379124341003}, values[3] = {8, 4, -1.6};

static void test_weights_are_fractions(void **state) {
  (void)state;
  double out = 0, lse = 0;
  kw_tensor_ref q = TENSOR(KW_F64, &one, 1, 1, 1, 1), k = TENSOR(KW_F64, logs, 1, 1, 3, 1);
  kw_tensor_ref v = TENSOR(KW_F64, values, 1, 1, 3, 1), mask;
  const kw_tensor_ref outs[2] = {TENSOR(KW_F64, &out, 1, 1, 1, 1), TENSOR(KW_F64, &lse, 1, 1, 1)};
  const bool chosen[3] = {true, false, true}, none[3] = {false};
  const double bias[3] = {0, -INFINITY, 0.69314718055994531};
  for (size_t t = 0; t < 3; t++) {
    kw_value args[8] = {test_arg(&q), test_arg(&k), test_arg(&v), test_none(),
                        float_arg(1), float_arg(0), int_arg(-1),  int_arg(-1)};
    assert_int_equal(call_op(tables[t], "keyway::attention", outs, 2, args, 8), KW_OK);
    assert_near(&out, (double[]){1}, 1); /* (8 + 2 * 4 - 5 * 1.6) / 8 */
    assert_near(&lse, (double[]){log(8)}, 1);
    mask = TENSOR(KW_BOOL, chosen, 3);
    args[3] = test_arg(&mask);
    assert_int_equal(call_op(tables[t], "keyway::attention", outs, 2, args, 8), KW_OK);
    assert_near(&out, (double[]){0}, 1); /* (8 - 5 * 1.6) / 6 */
    assert_near(&lse, (double[]){log(6)}, 1);
    mask = TENSOR(KW_F64, bias, 3);
    assert_int_equal(call_op(tables[t], "keyway::attention", outs, 2, args, 8), KW_OK);
    assert_near(&out, (double[]){-8.0 / 11}, 1); /* (8 - 10 * 1.6) / 11 */
    mask = TENSOR(KW_BOOL, none, 3);
    assert_int_equal(call_op(tables[t], "keyway::attention", outs, 2, args, 8), KW_OK);
    assert_near((double[]){out, lse}, (double[]){0, -INFINITY}, 2);
    args[3] = test_none();
    args[5] = float_arg(1); /* of a cap of 1 nothing is left but tanh */
    assert_int_equal(call_op(tables[t], "keyway::attention", outs, 2, args, 8), KW_OK);
    assert_near(&lse, (double[]){log(exp(tanh(logs[0])) + exp(tanh(logs[1])) + exp(tanh(logs[2])))}, 1);
  }
}

/* Four keys of one score each, value j is 2^j: which keys a query sees can be read off. */
static void test_windows(void **state) {
  (void)state;
  const double zeros[4] = {0}, powers[4] = {1, 2, 4, 8};
  double out[2], lse[2];
  kw_tensor_ref q = TENSOR(KW_F64, zeros, 1, 1, 2, 1), k = TENSOR(KW_F64, zeros, 1, 1, 4, 1);
  kw_tensor_ref v = TENSOR(KW_F64, powers, 1, 1, 4, 1);
  const kw_tensor_ref outs[2] = {TENSOR(KW_F64, out, 1, 1, 2, 1), TENSOR(KW_F64, lse, 1, 1, 2)};
  static const struct {
    int64_t left, right;
    double seen[2]; /* the sum of the values of the keys that each query sees */
  } windows[] = {{-1, -1, {15, 15}},
                 {-1, 0, {7, 15}},
                 {0, 0, {4, 8}},
                 {1, 0, {6, 12}},
                 {0, -1, {12, 8}},
                 {0, 1, {12, 8}},
                 {INT64_MAX, INT64_MAX, {15, 15}}};
  for (size_t i = 0; i < sizeof windows / sizeof windows[0]; i++) {
    kw_value args[8] = {test_arg(&q), test_arg(&k), test_arg(&v), test_none(), test_none(), float_arg(0)};
    args[6] = int_arg(windows[i].left);
    args[7] = int_arg(windows[i].right);
    assert_int_equal(call_op(kw_reference_f64, "keyway::attention", outs, 2, args, 8), KW_OK);
    for (size_t r = 0; r < 2; r++) assert_near((double[]){out[r] * exp(lse[r])}, &windows[i].seen[r], 1);
  }
  /* ATen counts from the first key. */
  kw_value args[8] = {test_arg(&q), test_arg(&k), test_arg(&v), test_none(), float_arg(0), bool_arg(true)};
  args[7] = bool_arg(false);
  assert_int_equal(call_op(kw_reference_f64, "scaled_dot_product_attention", outs, 1, args, 8), KW_OK);
  assert_near(out, (double[]){1, 1.5}, 2);
}

/* Heads 0 and 1 of queries are served by head 0 of keys and values, 2 and 3 by head 1. */
static void test_heads(void **state) {
  (void)state;
  const double zeros[4] = {0}, pair[2] = {3, 5};
  double out[4];
  kw_tensor_ref q = TENSOR(KW_F64, zeros, 1, 4, 1, 1), k = TENSOR(KW_F64, zeros, 1, 2, 1, 1);
  kw_tensor_ref v = TENSOR(KW_F64, pair, 1, 2, 1, 1), result = TENSOR(KW_F64, out, 1, 4, 1, 1);
  RUN(kw_reference_f64, "scaled_dot_product_attention", &result, test_arg(&q), test_arg(&k), test_arg(&v), test_none(),
      float_arg(0), bool_arg(false), test_none(), bool_arg(true));
  assert_near(out, (double[]){3, 3, 5, 5}, 4);
}

/* Scores of 0 everywhere: results are means of the values that count. */
static void test_lengths_and_starts(void **state) {
  (void)state;
  const double zeros[6] = {0}, numbers[6] = {1, 2, 6, 10, 20, NAN};
  const int64_t lengths[2] = {3, 2}, bad[2] = {3, 4}, starts_q[3] = {0, 1, 2}, starts_k[3] = {0, 1, 5};
  double out[2], lse[2];
  uint32_t error = 0;
  kw_tensor_ref q = TENSOR(KW_F64, zeros, 2, 1, 1, 1), k = TENSOR(KW_F64, zeros, 2, 1, 3, 1);
  kw_tensor_ref v = TENSOR(KW_F64, numbers, 2, 1, 3, 1), n = TENSOR(KW_I64, lengths, 2);
  const kw_tensor_ref outs[2] = {TENSOR(KW_F64, out, 2, 1, 1, 1), TENSOR(KW_F64, lse, 2, 1, 1)};
  kw_value args[9] = {test_arg(&q), test_arg(&k), test_arg(&v), test_arg(&n), test_none(), float_arg(0), int_arg(-1)};
  assert_int_equal(call_op(kw_reference_f64, "keyway::attention_decode", outs, 2, args, 7), KW_OK);
  assert_near(out, (double[]){3, 15}, 2); /* NaN lies past the second's length */
  args[6] = int_arg(1);
  assert_int_equal(call_op(kw_reference_f64, "keyway::attention_decode", outs, 2, args, 7), KW_OK);
  assert_near(out, (double[]){4, 15}, 2);
  n = TENSOR(KW_I64, bad, 2);
  test_error = &error;
  assert_int_equal(call_op(kw_reference_f64, "keyway::attention_decode", outs, 2, args, 7), KW_OK);
  assert_int_equal(error, TEST_ERROR_CODE + 3);

  kw_tensor_ref rows_q = TENSOR(KW_F64, zeros, 2, 1, 1), rows_k = TENSOR(KW_F64, zeros, 5, 1, 1);
  kw_tensor_ref rows_v = TENSOR(KW_F64, numbers, 5, 1, 1), from_q = TENSOR(KW_I64, starts_q, 3);
  kw_tensor_ref from_k = TENSOR(KW_I64, starts_k, 3);
  const kw_tensor_ref rows[2] = {TENSOR(KW_F64, out, 2, 1, 1), TENSOR(KW_F64, lse, 2, 1)};
  kw_value varlen[9] = {test_arg(&rows_q), test_arg(&rows_k), test_arg(&rows_v), test_arg(&from_q), test_arg(&from_k),
                        test_none(),       float_arg(0),      int_arg(-1),       int_arg(-1)};
  error = 0;
  assert_int_equal(call_op(kw_reference_f64, "keyway::attention_varlen", rows, 2, varlen, 9), KW_OK);
  assert_near(out, (double[]){1, 9.5}, 2);
  assert_int_equal(error, 0);
  static const int64_t wrong[][3] = {{1, 1, 5}, {0, 1, 4}, {0, 6, 5}, {0, -1, 5}};
  for (size_t i = 0; i < 4; i++) {
    error = 0;
    from_k = TENSOR(KW_I64, wrong[i], 3);
    assert_int_equal(call_op(kw_reference_f64, "keyway::attention_varlen", rows, 2, varlen, 9), KW_OK);
    assert_int_equal(error, TEST_ERROR_CODE + 4);
  }
  test_error = NULL;
}

/* Two sequences of pages of two rows: the first has 6, 10 and 1, the second 1 and 2. */
static void test_pages(void **state) {
  (void)state;
  const double zeros[8] = {0}, numbers[8] = {1, 2, NAN, NAN, 6, 10, NAN, NAN};
  int32_t table[4] = {2, 0, 0, 99}, lengths[2] = {3, 2};
  double out[2], lse[2];
  uint32_t error = 0;
  kw_tensor_ref q = TENSOR(KW_F64, zeros, 2, 1, 1, 1), k = TENSOR(KW_F64, zeros, 4, 2, 1, 1);
  kw_tensor_ref v = TENSOR(KW_F64, numbers, 4, 2, 1, 1), pages = TENSOR(KW_I32, table, 2, 2);
  kw_tensor_ref n = TENSOR(KW_I32, lengths, 2);
  const kw_tensor_ref outs[2] = {TENSOR(KW_F64, out, 2, 1, 1, 1), TENSOR(KW_F64, lse, 2, 1, 1)};
  kw_value args[10] = {test_arg(&q), test_arg(&k), test_arg(&v), test_arg(&pages), test_arg(&n),
                       test_none(),  test_none(),  float_arg(0), int_arg(-1),      int_arg(0)};
  test_error = &error;
  assert_int_equal(call_op(kw_reference_f64, "keyway::attention_paged", outs, 2, args, 10), KW_OK);
  assert_near(out, (double[]){17.0 / 3, 1.5}, 2);
  assert_int_equal(error, 0); /* the second has one page */
  lengths[1] = 3;
  assert_int_equal(call_op(kw_reference_f64, "keyway::attention_paged", outs, 2, args, 10), KW_OK);
  assert_int_equal(error, TEST_ERROR_CODE + 3);
  error = 0;
  lengths[1] = 5;
  assert_int_equal(call_op(kw_reference_f64, "keyway::attention_paged", outs, 2, args, 10), KW_OK);
  assert_int_equal(error, TEST_ERROR_CODE + 4);
  test_error = NULL;
}

/* The gradient is what the forward op's results change by. */
static void test_gradient_is_a_difference(void **state) {
  (void)state;
  enum { ROWS = 3, KEYS = 4, WIDTH = 2, Q = ROWS * WIDTH, K = KEYS * WIDTH };
  double in[Q + 2 * K], grad[Q], out[Q], lse[ROWS], found[Q + 2 * K];
  for (int i = 0; i < Q + 2 * K; i++) in[i] = sin(3 * i) + 0.25;
  for (int i = 0; i < Q; i++) grad[i] = cos(2 * i);
  kw_tensor_ref q = TENSOR(KW_F64, in, 1, 1, ROWS, WIDTH), k = TENSOR(KW_F64, in + Q, 1, 1, KEYS, WIDTH);
  kw_tensor_ref v = TENSOR(KW_F64, in + Q + K, 1, 1, KEYS, WIDTH), g = TENSOR(KW_F64, grad, 1, 1, ROWS, WIDTH);
  const kw_tensor_ref outs[2] = {TENSOR(KW_F64, out, 1, 1, ROWS, WIDTH), TENSOR(KW_F64, lse, 1, 1, ROWS)};
  const kw_tensor_ref grads[3] = {TENSOR(KW_F64, found, 1, 1, ROWS, WIDTH),
                                  TENSOR(KW_F64, found + Q, 1, 1, KEYS, WIDTH),
                                  TENSOR(KW_F64, found + Q + K, 1, 1, KEYS, WIDTH)};
  kw_value forward[8] = {test_arg(&q),     test_arg(&k), test_arg(&v), test_none(),
                         float_arg(0.875), float_arg(2), int_arg(2),   int_arg(0)};
  kw_value backward[11] = {test_arg(&g), forward[0], forward[1], forward[2], test_arg(&outs[0]), test_arg(&outs[1])};
  for (int i = 0; i < 5; i++) backward[6 + i] = forward[3 + i];
  assert_int_equal(call_op(kw_reference_f64, "keyway::attention", outs, 2, forward, 8), KW_OK);
  assert_int_equal(call_op(kw_reference_f64, "keyway::attention_backward", grads, 3, backward, 11), KW_OK);
  const double step = 1e-5;
  for (int i = 0; i < Q + 2 * K; i++) {
    double known = in[i], sums[2];
    for (int side = 0; side < 2; side++) {
      in[i] = known + (side ? step : -step);
      assert_int_equal(call_op(kw_reference_f64, "keyway::attention", outs, 2, forward, 8), KW_OK);
      sums[side] = 0;
      for (int r = 0; r < Q; r++) sums[side] += grad[r] * out[r];
    }
    in[i] = known;
    assert_near(&found[i], (double[]){(sums[1] - sums[0]) / (2 * step)}, 1);
  }
}

/* float is within the bound around f128, and the bound is no larger than a small part of the result. */
static void test_magnitude_bounds_float(void **state) {
  (void)state;
  enum { ROWS = 5, KEYS = 67, WIDTH = 16, Q = ROWS * WIDTH, K = KEYS * WIDTH };
  static float in[Q + 2 * K];
  float got[Q], lse[ROWS];
  kw_wide exact[Q], bound[Q], exact_lse[ROWS], bound_lse[ROWS];
  for (int i = 0; i < Q + 2 * K; i++) in[i] = (float)sin(7 * i) * 2;
  kw_tensor_ref q = TENSOR(KW_F32, in, 1, 1, ROWS, WIDTH), k = TENSOR(KW_F32, in + Q, 1, 1, KEYS, WIDTH);
  kw_tensor_ref v = TENSOR(KW_F32, in + Q + K, 1, 1, KEYS, WIDTH);
  kw_value args[8] = {test_arg(&q), test_arg(&k), test_arg(&v), test_none(),
                      test_none(),  float_arg(0), int_arg(-1),  int_arg(-1)};
  const kw_tensor_ref narrow[2] = {TENSOR(KW_F32, got, 1, 1, ROWS, WIDTH), TENSOR(KW_F32, lse, 1, 1, ROWS)};
  const kw_tensor_ref wide[2] = {TENSOR(KW_DTYPE_WIDE, exact, 1, 1, ROWS, WIDTH),
                                 TENSOR(KW_DTYPE_WIDE, exact_lse, 1, 1, ROWS)};
  const kw_tensor_ref limits[2] = {TENSOR(KW_DTYPE_WIDE, bound, 1, 1, ROWS, WIDTH),
                                   TENSOR(KW_DTYPE_WIDE, bound_lse, 1, 1, ROWS)};
  assert_int_equal(call_op(kw_reference_f32, "keyway::attention", narrow, 2, args, 8), KW_OK);
  assert_int_equal(call_op(kw_reference_f128, "keyway::attention", wide, 2, args, 8), KW_OK);
  assert_int_equal(call_op(kw_reference_f128, "keyway::attention/magnitude", limits, 2, args, 8), KW_OK);
  for (size_t i = 0; i < Q; i++) {
    assert_true(fabs(got[i] - exact[i].hi) <= 0x1p-23 * bound[i].hi);
    assert_true(0x1p-23 * bound[i].hi < 1e-4);
  }
  for (size_t i = 0; i < ROWS; i++) {
    assert_true(fabs(lse[i] - exact_lse[i].hi) <= 0x1p-23 * bound_lse[i].hi);
    assert_true(0x1p-23 * bound_lse[i].hi < 1e-4);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_weights_are_fractions),
      cmocka_unit_test(test_windows),
      cmocka_unit_test(test_heads),
      cmocka_unit_test(test_lengths_and_starts),
      cmocka_unit_test(test_pages),
      cmocka_unit_test(test_gradient_is_a_difference),
      cmocka_unit_test(test_magnitude_bounds_float),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
