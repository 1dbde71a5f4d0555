/* SPDX-License-Identifier: Apache-2.0
 *
 * Tests of the kernels that sum elements into the places that indices name.
 */
#include "test_call.h"

#include <math.h>

static float result[16];
static const test_table tables[] = {kw_reference_f32, kw_reference_f64, kw_reference_f128};

static void expect(const float *wanted, size_t count, int line) {
  for (size_t i = 0; i < count; i++) {
    if (result[i] != wanted[i]) fail_msg("line %d: element %zu is %g, not %g", line, i, result[i], wanted[i]);
  }
}
#define EXPECT(...) expect((const float[]){__VA_ARGS__}, sizeof((float[]){__VA_ARGS__}) / sizeof(float), __LINE__)
#define INDICES(...) ((const int64_t[]){__VA_ARGS__})
#define DIM(number) ((kw_value){.tag = KW_TAG_INT, .u.i = number})
#define FLAG(flag) ((kw_value){.tag = KW_TAG_BOOL, .u.b = flag})

static void test_scatter_add(void **state) {
  (void)state;
  float start[] = {10, 20, 30, 40, 50, 60}, values[] = {1, 2, 3, 4, 5, 6, 7, 8};
  kw_tensor_ref self = TENSOR(KW_F32, start, 2, 3), src = TENSOR(KW_F32, values, 2, 4);
  kw_tensor_ref out = TENSOR(KW_F32, result, 2, 3), index = TENSOR(KW_I64, INDICES(0, 0, 2, 1, 1, 1), 2, 3);
  for (size_t t = 0; t < 3; t++) {
    memset(result, 0, sizeof result);
    RUN(tables[t], "scatter_add", &out, test_arg(&self), DIM(1), test_arg(&index), test_arg(&src));
    EXPECT(13, 20, 33, 40, 68, 60);
  }
  kw_tensor_ref one = TENSOR(KW_I64, INDICES(1, 0, 1), 1, 3);
  RUN(kw_reference_f32, "scatter_add", &out, test_arg(&self), DIM(-2), test_arg(&one), test_arg(&src));
  EXPECT(10, 22, 30, 41, 50, 63);
}

static void test_index_add(void **state) {
  (void)state;
  float start[] = {10, 20, 30, 40, 50, 60}, values[] = {1, 2, 3, 4, 5, 6};
  kw_tensor_ref self = TENSOR(KW_F32, start, 2, 3), src = TENSOR(KW_F32, values, 3, 3);
  kw_tensor_ref out = TENSOR(KW_F32, result, 2, 3), index = TENSOR(KW_I64, INDICES(1, 1), 2);
  src.shape[0] = 2, src.numel = 6;
  RUN(kw_reference_f32, "index_add", &out, test_arg(&self), DIM(0), test_arg(&index), test_arg(&src), test_int(1));
  EXPECT(10, 20, 30, 45, 57, 69);
  kw_tensor_ref columns = TENSOR(KW_F32, values, 2, 2);
  index = TENSOR(KW_I64, INDICES(2, 0), 2);
  RUN(kw_reference_f32, "index_add", &out, test_arg(&self), DIM(-1), test_arg(&index), test_arg(&columns),
      test_float(-0.5));
  EXPECT(9, 20, 29.5, 38, 50, 58.5);
  kw_tensor_ref point = RANK0(KW_F32, start), number = RANK0(KW_F32, values), at = RANK0(KW_I64, INDICES(0));
  kw_tensor_ref single = RANK0(KW_F32, result);
  RUN(kw_reference_f32, "index_add", &single, test_arg(&point), DIM(0), test_arg(&at), test_arg(&number), test_int(3));
  EXPECT(13);
}

static void test_scatter_reduce(void **state) {
  (void)state;
  float start[] = {10, -20, 30}, values[] = {4, 5, -6, 2};
  kw_tensor_ref self = TENSOR(KW_F32, start, 3), src = TENSOR(KW_F32, values, 4), out = TENSOR(KW_F32, result, 3);
  kw_tensor_ref index = TENSOR(KW_I64, INDICES(0, 0, 1, 1), 4);
#define REDUCE(how, with_self)                                                                                 \
  RUN(kw_reference_f32, "scatter_reduce.two", &out, test_arg(&self), DIM(0), test_arg(&index), test_arg(&src), \
      test_string(how), FLAG(with_self))
  REDUCE("sum", true);
  EXPECT(19, -24, 30);
  REDUCE("sum", false);
  EXPECT(9, -4, 30);
  REDUCE("prod", true);
  EXPECT(200, 240, 30);
  REDUCE("prod", false);
  EXPECT(20, -12, 30);
  REDUCE("mean", true);
  EXPECT(19.0f / 3, -8, 30);
  REDUCE("mean", false);
  EXPECT(4.5, -2, 30);
  REDUCE("amax", true);
  EXPECT(10, 2, 30);
  REDUCE("amax", false);
  EXPECT(5, 2, 30);
  REDUCE("amin", true);
  EXPECT(4, -20, 30);
  REDUCE("amin", false);
  EXPECT(4, -6, 30);
  values[1] = NAN;
  REDUCE("amax", true);
  assert_true(isnan(result[0]) && result[1] == 2);
  assert_int_equal(TRY(kw_reference_f32, "scatter_reduce.two", &out, test_arg(&self), DIM(0), test_arg(&index),
                       test_arg(&src), test_string("max"), FLAG(true)),
                   KW_ERR_INVALID_ARGUMENT);
}

/* A mean of integers is rounded down, from the sum that the dtype holds: 200 + 100 is 44 in u8. */
static void test_integers(void **state) {
  (void)state;
  int32_t start[] = {-5, 7}, values[] = {2, 1}, got[2];
  uint8_t small[] = {200}, more[] = {100}, byte = 0;
  kw_tensor_ref self = TENSOR(KW_I32, start, 2), src = TENSOR(KW_I32, values, 2), out = TENSOR(KW_I32, got, 2);
  kw_tensor_ref index = TENSOR(KW_I64, INDICES(0, 1), 2), zero = TENSOR(KW_I64, INDICES(0), 1);
  kw_tensor_ref one = TENSOR(KW_U8, small, 1), other = TENSOR(KW_U8, more, 1), cut = TENSOR(KW_U8, &byte, 1);
  for (size_t t = 0; t < 3; t++) {
    RUN(tables[t], "scatter_reduce.two", &out, test_arg(&self), DIM(0), test_arg(&index), test_arg(&src),
        test_string("mean"), FLAG(true));
    assert_true(got[0] == -2 && got[1] == 4);
    RUN(tables[t], "scatter_reduce.two", &cut, test_arg(&one), DIM(0), test_arg(&zero), test_arg(&other),
        test_string("mean"), FLAG(true));
    assert_int_equal(byte, 22);
    RUN(tables[t], "index_add", &cut, test_arg(&one), DIM(0), test_arg(&zero), test_arg(&other), test_int(2));
    assert_int_equal(byte, 144);
  }
}

/* Out of range: told, and left out. */
static void test_out_of_range(void **state) {
  (void)state;
  uint32_t word = 0;
  test_error = &word;
  float start[] = {1, 2}, values[] = {10, 20, 30};
  kw_tensor_ref self = TENSOR(KW_F32, start, 2), src = TENSOR(KW_F32, values, 3), out = TENSOR(KW_F32, result, 2);
  kw_tensor_ref index = TENSOR(KW_I64, INDICES(2, 0, -1), 3);
  RUN(kw_reference_f32, "scatter_add", &out, test_arg(&self), DIM(0), test_arg(&index), test_arg(&src));
  EXPECT(21, 2);
  assert_int_equal(word, TEST_ERROR_CODE + 2);
  word = 0;
  RUN(kw_reference_f32, "index_add", &out, test_arg(&self), DIM(0), test_arg(&index), test_arg(&src), test_int(1));
  EXPECT(21, 2);
  assert_int_equal(word, TEST_ERROR_CODE + 2);
  word = 0;
  RUN(kw_reference_f32, "scatter_reduce.two", &out, test_arg(&self), DIM(0), test_arg(&index), test_arg(&src),
      test_string("mean"), FLAG(false));
  EXPECT(20, 2);
  assert_int_equal(word, TEST_ERROR_CODE + 2);
  test_error = NULL;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_scatter_add), cmocka_unit_test(test_index_add),    cmocka_unit_test(test_scatter_reduce),
      cmocka_unit_test(test_integers),    cmocka_unit_test(test_out_of_range),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
