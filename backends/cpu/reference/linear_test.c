/* SPDX-License-Identifier: Apache-2.0
 *
 * Linear layers with packed, scaled or sparse weights, and the packing.
 */
#include "test_call.h"

#include <math.h>
#include <stdlib.h>

static const test_table tables[] = {kw_reference_f32, kw_reference_f64, kw_reference_f128};

static void test_int8(void **state) {
  (void)state;
  const int8_t x[4] = {-128, 127, 1, 2}, w[6] = {-128, 127, 3, -4, 0, 1};
  const float scale = 0.5f, rows[2] = {2, 0.25f}, columns[3] = {1, 10, -1}, bias[3] = {0, 1, 2};
  float out[6];
  kw_tensor_ref in = TENSOR(KW_I8, x, 2, 2), weight = TENSOR(KW_I8, w, 3, 2), result = TENSOR(KW_F32, out, 2, 3);
  kw_tensor_ref one = RANK0(KW_F32, &scale), by_row = TENSOR(KW_F32, rows, 2), by_column = TENSOR(KW_F32, columns, 3);
  kw_tensor_ref plus = TENSOR(KW_F32, bias, 3);
  for (size_t t = 0; t < 3; t++) { /* sums: 32513 -892 127, 126 -5 2 */
    RUN(tables[t], "keyway::int8_linear", &result, test_arg(&in), test_arg(&weight), test_arg(&one), test_arg(&one),
        test_none(), test_none());
    assert_memory_equal(out, ((float[]){8128.25f, -223, 31.75f, 31.5f, -1.25f, 0.5f}), sizeof out);
    RUN(tables[t], "keyway::int8_linear", &result, test_arg(&in), test_arg(&weight), test_arg(&by_row),
        test_arg(&by_column), test_arg(&plus), test_none());
    assert_memory_equal(out, ((float[]){65026, -17839, -252, 31.5f, -11.5f, 1.5f}), sizeof out);
  }
}

/* 2^17 products of 2^14 are 2^31, which wraps. */
static void test_int8_wraps(void **state) {
  (void)state;
  const int8_t low = -128;
  const float one = 1;
  float out = 0;
  kw_tensor_ref x = TENSOR(KW_I8, &low, 1, INT64_C(1) << 17), scale = RANK0(KW_F32, &one);
  kw_tensor_ref result = TENSOR(KW_F32, &out, 1, 1);
  x.strides[1] = 0;
  RUN(kw_reference_f64, "keyway::int8_linear", &result, test_arg(&x), test_arg(&x), test_arg(&scale), test_arg(&scale),
      test_none(), test_none());
  assert_true(out == -2147483648.f);
}

static void test_f8(void **state) {
  (void)state;
  const uint8_t x[2] = {0x7e, 0x38}, w[4] = {0x3c, 0xbc, 0x7b, 0x7c}; /* 448 1; 1 -1, 57344 inf */
  const float scale = 0.5f;
  float out[2];
  kw_tensor_ref in = TENSOR(KW_F8E4M3FN, x, 1, 2), weight = TENSOR(KW_F8E5M2, w, 2, 2);
  kw_tensor_ref result = TENSOR(KW_F32, out, 1, 2), by = RANK0(KW_F32, &scale);
  for (size_t t = 0; t < 3; t++) {
    RUN(tables[t], "keyway::f8_linear", &result, test_arg(&in), test_arg(&weight), test_arg(&by), test_arg(&by),
        test_none(), test_none());
    assert_true(out[0] == 111.75f && isinf(out[1]));
  }
}

/* The low nibble is the even column; groups of two columns. */
static void test_int4(void **state) {
  (void)state;
  const float x[4] = {1, 10, 100, 1000}, scales[2] = {1, 0.5f}, zeros[2] = {0, 8}, bias = 7;
  const uint8_t bytes[2] = {0xf1, 0x82}; /* 1 15, 2 8 */
  float out = 0;
  kw_tensor_ref in = TENSOR(KW_F32, x, 1, 4), weight = TENSOR(KW_U8, bytes, 1, 2), result = TENSOR(KW_F32, &out, 1, 1);
  kw_tensor_ref by = TENSOR(KW_F32, scales, 1, 2), zero = TENSOR(KW_F32, zeros, 1, 2), plus = TENSOR(KW_F32, &bias, 1);
  for (size_t t = 0; t < 3; t++) { /* weights 1 15, -3 0 */
    RUN(tables[t], "keyway::int4_linear", &result, test_arg(&in), test_arg(&weight), test_arg(&by), test_arg(&zero),
        test_arg(&plus));
    assert_true(out == 1 + 150 - 300 + 7);
  }
  const uint8_t codes[8] = {1, 15, 2, 8, 0x31, 0xf0, 255, 4};
  uint8_t packed[4];
  kw_tensor_ref loose = TENSOR(KW_U8, codes, 2, 4), tight = TENSOR(KW_U8, packed, 2, 2);
  RUN(kw_reference_f32, "keyway::int4_pack", &tight, test_arg(&loose));
  assert_memory_equal(packed, ((uint8_t[]){0xf1, 0x82, 0x01, 0x4f}), sizeof packed);
  loose.strides[0] = 1; /* a matrix by columns: 1 2 0x31 255, 15 8 0xf0 4 */
  loose.strides[1] = 2;
  RUN(kw_reference_f32, "keyway::int4_pack", &tight, test_arg(&loose));
  assert_memory_equal(packed, ((uint8_t[]){0x21, 0xf1, 0x8f, 0x40}), sizeof packed);
}

static void compress(const kw_tensor_ref *in, const kw_tensor_ref *values, const kw_tensor_ref *meta) {
  const kw_value args[] = {test_arg(in)};
  const kw_tensor_ref *outs[] = {values, meta};
  kw_call call = {.struct_size = sizeof call, .arg_count = 1, .out_count = 2, .args = args, .outs = outs};
  call.op = "keyway::sparse24_compress";
  assert_int_equal(test_call(kw_reference_f32, &call), KW_OK);
}

/* Ties by lowest index; NaN is larger than any number; a nibble holds both places, the low bits the first. */
static void test_sparse24(void **state) {
  (void)state;
  const float x[20] = {1, -1, 1, 1, 0, 5, -0.0f, -6, NAN, 3, INFINITY, NAN, 0, 0, 0, 0, 2, NAN, -7, 7};
  float values[10];
  uint8_t meta[3] = {0xee, 0xee, 0xee};
  kw_tensor_ref in = TENSOR(KW_F32, x, 1, 20), kept = TENSOR(KW_F32, values, 1, 10), where = TENSOR(KW_U8, meta, 1, 3);
  compress(&in, &kept, &where);
  assert_memory_equal(values, ((float[]){1, -1, 5, -6}), 4 * sizeof *values);
  assert_true(isnan(values[4]) && isnan(values[5]) && values[6] == 0 && values[7] == 0);
  assert_true(isnan(values[8]) && values[9] == -7);
  assert_memory_equal(meta, ((uint8_t[]){0xd4, 0x4c, 0x09}), sizeof meta); /* 0 1, 1 3; 0 3, 0 1; 1 2 */

  const float a[8] = {1, 10, NAN, 1000, INFINITY, 2, 3, NAN}, w[4] = {1, 2, 3, 4}, bias = 0.5f;
  const uint8_t places[1] = {0x9c}; /* 0 3, 1 2 */
  float out = 0;
  kw_tensor_ref input = TENSOR(KW_F32, a, 1, 8), weight = TENSOR(KW_F32, w, 1, 4), at = TENSOR(KW_U8, places, 1, 1);
  kw_tensor_ref plus = TENSOR(KW_F32, &bias, 1), result = TENSOR(KW_F32, &out, 1, 1);
  for (size_t t = 0; t < 3; t++) { /* what the places leave out is not multiplied */
    RUN(tables[t], "keyway::sparse24_linear", &result, test_arg(&input), test_arg(&weight), test_arg(&at),
        test_arg(&plus));
    assert_true(out == 1 + 2000 + 6 + 12 + 0.5f);
  }
}

/* [1 2; 3 4] in block column 1 and, for the second row of blocks, nothing. */
static void test_bsr(void **state) {
  (void)state;
  const float x[8] = {1, 10, 100, 1000, 5, NAN, 7, 8}, w[4] = {1, 2, 3, 4};
  const int64_t rows[3] = {0, 1, 1};
  const int32_t columns[1] = {1};
  float out[8];
  kw_tensor_ref in = TENSOR(KW_F32, x, 2, 4), crow = TENSOR(KW_I64, rows, 3), col = TENSOR(KW_I32, columns, 1);
  kw_tensor_ref blocks = TENSOR(KW_F32, w, 1, 2, 2), result = TENSOR(KW_F32, out, 2, 4);
  for (size_t t = 0; t < 3; t++) {
    RUN(tables[t], "keyway::bsr_linear", &result, test_arg(&in), test_arg(&crow), test_arg(&col), test_arg(&blocks),
        test_none());
    assert_memory_equal(out, ((float[]){2100, 4300, 0, 0, 23, 53, 0, 0}), sizeof out);
  }
}

/* Row starts that do not ascend from 0 to the number of blocks, and column numbers out of range, are errors. */
static void test_bsr_errors(void **state) {
  (void)state;
  static const struct {
    int64_t rows[3], columns[2];
    uint32_t told;
  } wrong[] = {
      {{0, 1, 2}, {0, 1}, 0},
      {{0, 1, 2}, {0, 2}, TEST_ERROR_CODE + 2},
      {{0, 1, 2}, {-1, 0}, TEST_ERROR_CODE + 2},
      {{1, 1, 2}, {0, 1}, TEST_ERROR_CODE + 1},
      {{0, 2, 1}, {0, 1}, TEST_ERROR_CODE + 1},
      {{0, 3, 2}, {0, 1}, TEST_ERROR_CODE + 1},
      {{0, 1, INT64_MAX}, {0, 1}, TEST_ERROR_CODE + 1},
      {{0, -1, 2}, {0, 1}, TEST_ERROR_CODE + 1},
  };
  const float x[2] = {1, 2}, w[2] = {3, 5};
  float out[2];
  uint32_t error;
  test_error = &error;
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
    kw_tensor_ref in = TENSOR(KW_F32, x, 1, 2), crow = TENSOR(KW_I64, wrong[i].rows, 3);
    kw_tensor_ref col = TENSOR(KW_I64, wrong[i].columns, 2), blocks = TENSOR(KW_F32, w, 2, 1, 1);
    kw_tensor_ref result = TENSOR(KW_F32, out, 1, 2);
    error = 0;
    RUN(kw_reference_f32, "keyway::bsr_linear", &result, test_arg(&in), test_arg(&crow), test_arg(&col),
        test_arg(&blocks), test_none());
    assert_int_equal(error, wrong[i].told);
    assert_true(i > 0 || (out[0] == 3 && out[1] == 10));
  }
  test_error = NULL;
}

/* More columns than memory holds: one element, again and again. */
static void test_without_memory(void **state) {
  (void)state;
  const int8_t one = 1;
  const float scale = 1;
  float out = 0;
  kw_tensor_ref x = TENSOR(KW_I8, &one, 1, INT64_C(1) << 61), by = RANK0(KW_F32, &scale);
  kw_tensor_ref result = TENSOR(KW_F32, &out, 1, 1);
  x.strides[1] = 0;
  assert_int_equal(TRY(kw_reference_f32, "keyway::int8_linear", &result, test_arg(&x), test_arg(&x), test_arg(&by),
                       test_arg(&by), test_none(), test_none()),
                   KW_ERR_OUT_OF_MEMORY);
}

/* In eps: 4 roundings of an integer sum; for floats those of growth(k) sums more, for f16 two of the weights besides.
 */
static void test_bounds(void **state) {
  (void)state;
  const int8_t a[2] = {3, -4}, b[2] = {5, 4};
  const float unit = 1, bias = -2, f[2] = {3, -4}, zeros[1] = {2}, scales[1] = {-1};
  const uint8_t bytes[1] = {0x47}; /* 7 4 */
  kw_wide out;
  kw_tensor_ref x = TENSOR(KW_I8, a, 1, 2), w = TENSOR(KW_I8, b, 1, 2), one = RANK0(KW_F32, &unit);
  kw_tensor_ref plus = TENSOR(KW_F32, &bias, 1), result = TENSOR(KW_DTYPE_WIDE, &out, 1, 1);
  kw_tensor_ref in = TENSOR(KW_F32, f, 1, 2), nibbles = TENSOR(KW_U8, bytes, 1, 1), by = TENSOR(KW_F32, scales, 1, 1);
  kw_tensor_ref zero = TENSOR(KW_F32, zeros, 1, 1);
  RUN(kw_reference_f64, "keyway::int8_linear/magnitude", &result, test_arg(&x), test_arg(&w), test_arg(&one),
      test_arg(&one), test_arg(&plus), test_none());
  assert_true(fabs(out.hi - (1 * 4 + 2 * 2)) < 1e-9);
  RUN(kw_reference_f64, "keyway::int4_linear/magnitude", &result, test_arg(&in), test_arg(&nibbles), test_arg(&by),
      test_arg(&zero), test_none());
  assert_true(fabs(out.hi - (3 * 9 + 4 * 6) * (2 + 4)) < 1e-9);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_int8),       cmocka_unit_test(test_int8_wraps),     cmocka_unit_test(test_f8),
      cmocka_unit_test(test_int4),       cmocka_unit_test(test_sparse24),       cmocka_unit_test(test_bsr),
      cmocka_unit_test(test_bsr_errors), cmocka_unit_test(test_without_memory), cmocka_unit_test(test_bounds),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
