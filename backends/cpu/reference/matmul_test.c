/* SPDX-License-Identifier: Apache-2.0
 *
 * Tests of the matrix products.
 */
#include "test_call.h"

#include <float.h>
#include <math.h>

static const test_table tables[] = {kw_reference_f32, kw_reference_f64, kw_reference_f128};

static void test_mm(void **state) {
  (void)state;
  float a[6] = {1, 2, 3, 4, 5, 6}, b[6] = {1, 0, 2, -1, 0, 1}, out[4];
  kw_tensor_ref x = TENSOR(KW_F32, a, 2, 3), y = TENSOR(KW_F32, b, 3, 2), result = TENSOR(KW_F32, out, 2, 2);
  for (size_t t = 0; t < 3; t++) {
    RUN(tables[t], "mm", &result, test_arg(&x), test_arg(&y));
    assert_memory_equal(out, ((float[]){5, 1, 14, 1}), sizeof out);
  }
  y.strides[0] = 1; /* b as the transpose of a 2 x 3 matrix: columns 1 0 2 and -1 0 1 */
  y.strides[1] = 3;
  result.strides[0] = 1;
  result.strides[1] = 2;
  RUN(kw_reference_f32, "mm", &result, test_arg(&x), test_arg(&y));
  assert_memory_equal(out, ((float[]){7, 16, 2, 2}), sizeof out);
  uint8_t p[2] = {200, 100}, q[2] = {2, 1}, r = 0;
  kw_tensor_ref u = TENSOR(KW_U8, p, 1, 2), v = TENSOR(KW_U8, q, 2, 1), w = TENSOR(KW_U8, &r, 1, 1);
  RUN(kw_reference_f32, "mm", &w, test_arg(&u), test_arg(&v));
  assert_int_equal(r, (uint8_t)500);
}

static void test_mm_is_pairwise(void **state) {
  (void)state;
  enum { COUNT = 100003 };
  static float a[COUNT], b[COUNT];
  float out = 0;
  for (size_t i = 0; i < COUNT; i++) a[i] = 0.1f, b[i] = 1;
  kw_tensor_ref x = TENSOR(KW_F32, a, 1, COUNT), y = TENSOR(KW_F32, b, COUNT, 1), result = TENSOR(KW_F32, &out, 1, 1);
  RUN(kw_reference_f32, "mm", &result, test_arg(&x), test_arg(&y));
  double exact = COUNT * (double)0.1f;
  assert_true(fabs((double)out - exact) <= 8 * (double)FLT_EPSILON * exact);
}

/* More columns than a panel has. */
static void test_mm_of_many_columns(void **state) {
  (void)state;
  enum { COUNT = 131 };
  int32_t a[2 * 3] = {1, 2, 3, 4, 5, 6}, b[3 * COUNT], out[2 * COUNT];
  for (int i = 0; i < 3 * COUNT; i++) b[i] = i;
  kw_tensor_ref x = TENSOR(KW_I32, a, 2, 3), y = TENSOR(KW_I32, b, 3, COUNT), result = TENSOR(KW_I32, out, 2, COUNT);
  RUN(kw_reference_f32, "mm", &result, test_arg(&x), test_arg(&y));
  for (int j = 0; j < COUNT; j++) {
    assert_int_equal(out[j], j + 2 * (COUNT + j) + 3 * (2 * COUNT + j));
    assert_int_equal(out[COUNT + j], 4 * j + 5 * (COUNT + j) + 6 * (2 * COUNT + j));
  }
}

/* Longer than memory is: one element, again and again. */
static void test_mm_without_memory(void **state) {
  (void)state;
  int8_t one = 1, out = 0;
  kw_tensor_ref x = TENSOR(KW_I8, &one, 1, INT64_C(1) << 61), y = TENSOR(KW_I8, &one, INT64_C(1) << 61, 1);
  kw_tensor_ref result = TENSOR(KW_I8, &out, 1, 1);
  x.strides[1] = y.strides[0] = 0;
  assert_int_equal(TRY(kw_reference_f32, "mm", &result, test_arg(&x), test_arg(&y)), KW_ERR_OUT_OF_MEMORY);
}

static void test_bmm(void **state) {
  (void)state;
  float a[8] = {1, 2, 3, 4, 5, 6, 7, 8}, b[4] = {1, -1, 2, 0.5f}, out[4];
  kw_tensor_ref x = TENSOR(KW_F32, a, 2, 2, 2), y = TENSOR(KW_F32, b, 2, 2, 1), result = TENSOR(KW_F32, out, 2, 2, 1);
  kw_tensor_ref nothing = TENSOR(KW_F32, a, 2, 2, 0), none = TENSOR(KW_F32, b, 2, 0, 1);
  for (size_t t = 0; t < 3; t++) {
    RUN(tables[t], "bmm", &result, test_arg(&x), test_arg(&y));
    assert_memory_equal(out, ((float[]){-1, -1, 13, 18}), sizeof out);
    RUN(tables[t], "bmm", &result, test_arg(&nothing), test_arg(&none));
    assert_memory_equal(out, ((float[]){0, 0, 0, 0}), sizeof out);
  }
  x.strides[0] = 1; /* matrices interleaved: 1 5, 3 7 and 2 6, 4 8, transposed */
  x.strides[1] = 4;
  x.strides[2] = 2;
  RUN(kw_reference_f32, "bmm", &result, test_arg(&x), test_arg(&y));
  assert_memory_equal(out, ((float[]){-2, -2, 6, 16}), sizeof out);
}

static void test_addmm(void **state) {
  (void)state;
  float a[4] = {1, 2, 3, 4}, b[4] = {1, 0, 0, 1}, bias[2] = {10, 20}, nan[4] = {NAN, NAN, NAN, NAN}, out[4];
  kw_tensor_ref x = TENSOR(KW_F32, a, 2, 2), y = TENSOR(KW_F32, b, 2, 2), result = TENSOR(KW_F32, out, 2, 2);
  kw_tensor_ref row = TENSOR(KW_F32, bias, 2), column = TENSOR(KW_F32, bias, 2, 1), line = TENSOR(KW_F32, bias, 1, 2),
                one = RANK0(KW_F32, bias);
  kw_tensor_ref broken = TENSOR(KW_F32, nan, 2, 2);
  for (size_t t = 0; t < 3; t++) {
    RUN(tables[t], "addmm", &result, test_arg(&row), test_arg(&x), test_arg(&y), test_int(1), test_int(1));
    assert_memory_equal(out, ((float[]){11, 22, 13, 24}), sizeof out);
    RUN(tables[t], "addmm", &result, test_arg(&line), test_arg(&x), test_arg(&y), test_int(1), test_int(1));
    assert_memory_equal(out, ((float[]){11, 22, 13, 24}), sizeof out);
    RUN(tables[t], "addmm", &result, test_arg(&column), test_arg(&x), test_arg(&y), test_int(2), test_float(0.5));
    assert_memory_equal(out, ((float[]){20.5f, 21, 41.5f, 42}), sizeof out);
    RUN(tables[t], "addmm", &result, test_arg(&one), test_arg(&x), test_arg(&y), test_int(-1), test_int(0));
    assert_memory_equal(out, ((float[]){-10, -10, -10, -10}), sizeof out);
    RUN(tables[t], "addmm", &result, test_arg(&broken), test_arg(&x), test_arg(&y), test_float(0), test_int(3));
    assert_memory_equal(out, ((float[]){3, 6, 9, 12}), sizeof out);
  }
  uint8_t p[2] = {200, 100}, q[2] = {2, 1}, s = 7, r = 0;
  kw_tensor_ref u = TENSOR(KW_U8, p, 1, 2), v = TENSOR(KW_U8, q, 2, 1), self = RANK0(KW_U8, &s),
                w = TENSOR(KW_U8, &r, 1, 1);
  RUN(kw_reference_f32, "addmm", &w, test_arg(&self), test_arg(&u), test_arg(&v), test_int(-1), test_int(3));
  assert_int_equal(r, (uint8_t)(3 * 500 - 7));
  RUN(kw_reference_f32, "addmm", &w, test_arg(&self), test_arg(&u), test_arg(&v), test_int(0), test_int(1));
  assert_int_equal(r, (uint8_t)500);
}

/* Factors are rounded to what is computed in, f32 or f64, and no further in a wider type. */
static void test_addmm_factors(void **state) {
  (void)state;
  double one = 1, zero = 0, out = 0;
  kw_wide wide;
  float f = 1;
  kw_tensor_ref x = TENSOR(KW_F64, &one, 1, 1), self = RANK0(KW_F64, &zero), result = TENSOR(KW_F64, &out, 1, 1);
  kw_tensor_ref y = TENSOR(KW_F32, &f, 1, 1), wide_out = TENSOR(KW_DTYPE_WIDE, &wide, 1, 1);
  RUN(kw_reference_f64, "addmm", &result, test_arg(&self), test_arg(&x), test_arg(&x), test_int(1), test_float(0.1));
  assert_true(out == 0.1);
  RUN(kw_reference_f64, "addmm", &wide_out, test_arg(&y), test_arg(&y), test_arg(&y), test_int(0), test_float(0.1));
  assert_true(wide.hi == (double)0.1f);
  RUN(kw_reference_f64, "addmm", &wide_out, test_arg(&y), test_arg(&y), test_arg(&y), test_float(0.1), test_int(0));
  assert_true(wide.hi == (double)0.1f);
}

static void test_int_mm(void **state) {
  (void)state;
  int8_t a[3] = {-128, -128, 127}, b[3] = {-128, -128, -128};
  int32_t out = 0;
  float other[3] = {1, 2, 3};
  kw_tensor_ref x = TENSOR(KW_I8, a, 1, 3), y = TENSOR(KW_I8, b, 3, 1), result = TENSOR(KW_I32, &out, 1, 1);
  kw_tensor_ref f32 = TENSOR(KW_F32, other, 3, 1);
  RUN(kw_reference_f32, "_int_mm", &result, test_arg(&x), test_arg(&y));
  assert_int_equal(out, 128 * 128 * 2 - 127 * 128);
  assert_int_equal(TRY(kw_reference_f32, "_int_mm", &result, test_arg(&x), test_arg(&f32)), KW_ERR_INVALID_ARGUMENT);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_mm),
      cmocka_unit_test(test_mm_is_pairwise),
      cmocka_unit_test(test_mm_without_memory),
      cmocka_unit_test(test_mm_of_many_columns),
      cmocka_unit_test(test_bmm),
      cmocka_unit_test(test_addmm),
      cmocka_unit_test(test_addmm_factors),
      cmocka_unit_test(test_int_mm),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
