/* SPDX-License-Identifier: Apache-2.0
 *
 * Tests of variance, its divisor, and logsumexp.
 */
#include "test_call.h"

#include <float.h>
#include <math.h>

static const test_table tables[] = {kw_reference_f32, kw_reference_f64, kw_reference_f128};

static const int64_t last[] = {1};
static const kw_value along_rows = {.tag = KW_TAG_INT_LIST, .count = 1, .u.ints = last};
static const kw_value drop = {.tag = KW_TAG_BOOL}, yes = {.tag = KW_TAG_BOOL, .u.b = true};

static void test_variance(void **state) {
  (void)state;
  const float x[6] = {1, 2, 6, -4, -4, 5};
  float out[2], means[2];
  kw_tensor_ref self = TENSOR(KW_F32, x, 2, 3), two = TENSOR(KW_F32, out, 2), one = RANK0(KW_F32, out);
  kw_tensor_ref mean = TENSOR(KW_F32, means, 2);
  for (size_t t = 0; t < 3; t++) { /* sums of squares: 4 + 1 + 9, 9 + 9 + 36; of all: 92 with mean 1 */
    RUN(tables[t], "var.correction", &two, test_arg(&self), along_rows, test_none(), drop);
    assert_true(out[0] == 7 && out[1] == 27);
    RUN(tables[t], "var.correction", &two, test_arg(&self), along_rows, test_float(1.25), drop);
    assert_true(out[0] == 8 && fabsf(out[1] - 54 / 1.75f) < 1e-5f);
    RUN(tables[t], "var.correction", &one, test_arg(&self), test_none(), test_int(0), drop);
    assert_true(fabsf(out[0] - 92 / 6.0f) < 1e-5f);
    RUN(tables[t], "var.dim", &two, test_arg(&self), along_rows, yes, drop);
    assert_true(out[0] == 7 && out[1] == 27);
    RUN(tables[t], "var.dim", &two, test_arg(&self), along_rows, drop, drop);
    assert_true(fabsf(out[0] - 14 / 3.0f) < 1e-6f && out[1] == 18);
    const kw_tensor_ref *outs[] = {&two, &mean};
    const kw_value args[] = {test_arg(&self), along_rows, test_none(), drop};
    const kw_call call = {.struct_size = sizeof call,
                          .arg_count = 4,
                          .out_count = 2,
                          .op = "var_mean.correction",
                          .args = args,
                          .outs = outs};
    assert_int_equal(test_call(tables[t], &call), KW_OK);
    assert_true(out[0] == 7 && out[1] == 27);
    assert_true(means[0] == 3 && means[1] == -1);
  }
}

static void test_divisor(void **state) {
  (void)state;
  const float x[4] = {1, 2, 3, 3};
  float out[2];
  kw_tensor_ref self = TENSOR(KW_F32, x, 2, 2), two = TENSOR(KW_F32, out, 2);
  kw_tensor_ref single = TENSOR(KW_F32, x, 2, 1), none = TENSOR(KW_F32, x, 2, 0);
  for (size_t t = 0; t < 3; t++) {
    for (int correction = 2; correction < 4; correction++) { /* past the count it is 0 all the same */
      RUN(tables[t], "var.correction", &two, test_arg(&self), along_rows, test_int(correction), drop);
      assert_true(isinf(out[0]) && out[0] > 0 && isnan(out[1]));
    }
    RUN(tables[t], "var.correction", &two, test_arg(&single), along_rows, test_none(), drop);
    assert_true(isnan(out[0]) && isnan(out[1]));
    RUN(tables[t], "var.correction", &two, test_arg(&single), along_rows, test_int(0), drop);
    assert_true(out[0] == 0 && out[1] == 0);
    RUN(tables[t], "var.correction", &two, test_arg(&none), along_rows, test_int(-1), drop);
    assert_true(isnan(out[0]) && isnan(out[1]));
  }
}

/* The squares of what is left after the mean: a difference of sums of squares would have nothing left. */
static void test_two_passes(void **state) {
  (void)state;
  const float x[4] = {16777210, 16777212, 16777214, 16777216};
  float out = 0;
  kw_tensor_ref self = TENSOR(KW_F32, x, 4), one = RANK0(KW_F32, &out);
  RUN(kw_reference_f32, "var.correction", &one, test_arg(&self), test_none(), test_int(0), drop);
  assert_true(fabsf(out - 5) <= 1);
}

static void test_logsumexp(void **state) {
  (void)state;
  const float x[8] = {1000, 1000, -INFINITY, -INFINITY, INFINITY, -INFINITY, NAN, INFINITY};
  const uint8_t bytes[2] = {0, 0};
  float out[4];
  kw_tensor_ref self = TENSOR(KW_F32, x, 4, 2), none = TENSOR(KW_F32, x, 4, 0), four = TENSOR(KW_F32, out, 4);
  kw_tensor_ref u8 = TENSOR(KW_U8, bytes, 1, 2), one = TENSOR(KW_F32, out, 1);
  for (size_t t = 0; t < 3; t++) {
    RUN(tables[t], "logsumexp", &four, test_arg(&self), along_rows, drop);
    assert_true(fabsf(out[0] - 1000.6931472f) < 1e-4f);
    assert_true(isinf(out[1]) && out[1] < 0);
    assert_true(isinf(out[2]) && out[2] > 0);
    assert_true(isnan(out[3]));
    RUN(tables[t], "logsumexp", &four, test_arg(&none), along_rows, drop);
    assert_true(isinf(out[0]) && out[0] < 0);
    RUN(tables[t], "logsumexp", &one, test_arg(&u8), along_rows, drop);
    assert_true(fabsf(out[0] - 0.69314718f) <= FLT_EPSILON);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_variance),
      cmocka_unit_test(test_divisor),
      cmocka_unit_test(test_two_passes),
      cmocka_unit_test(test_logsumexp),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
