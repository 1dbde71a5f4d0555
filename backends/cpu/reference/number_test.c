/* SPDX-License-Identifier: Apache-2.0
 *
 * Tests of numbers in memory: every pattern of the narrow dtypes there and back, ties, overflow.
 */
#include "test_call.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const kw_dtype narrow[] = {KW_F16, KW_BF16, KW_F8E4M3FN, KW_F8E5M2};
static const test_table tables[] = {kw_reference_f32, kw_reference_f64, kw_reference_f128};

static uint32_t pattern_count(kw_dtype dtype) {
  return kw_number_size(dtype) == 1 ? 256 : 65536;
}

static double decode(kw_dtype dtype, uint32_t bits) {
  uint8_t byte = (uint8_t)bits;
  uint16_t pair = (uint16_t)bits;
  return kw_number_size(dtype) == 1 ? kw_number_load(dtype, &byte) : kw_number_load(dtype, &pair);
}

static uint32_t encode(kw_dtype dtype, double value) {
  uint8_t bytes[2] = {0, 0};
  kw_number_store(dtype, bytes, value);
  return bytes[0] | (uint32_t)bytes[1] << 8;
}

/* Values that the formats' definitions give. */
static void test_known_patterns(void **state) {
  (void)state;
  static const struct {
    kw_dtype dtype;
    uint32_t bits;
    double value;
  } known[] = {
      {KW_F16, 0x3c00, 1},          {KW_F16, 0xc000, -2},          {KW_F16, 0x7bff, 65504},
      {KW_F16, 0x0001, 0x1p-24},    {KW_F16, 0x0400, 0x1p-14},     {KW_F16, 0x7c00, INFINITY},
      {KW_F16, 0x3555, 0x1.554p-2}, {KW_BF16, 0x3f80, 1},          {KW_BF16, 0x0001, 0x1p-133},
      {KW_BF16, 0xff80, -INFINITY}, {KW_BF16, 0x7f7f, 0x1.fep127}, {KW_F8E4M3FN, 0x38, 1},
      {KW_F8E4M3FN, 0x7e, 448},     {KW_F8E4M3FN, 0x01, 0x1p-9},   {KW_F8E4M3FN, 0x08, 0x1p-6},
      {KW_F8E4M3FN, 0xf8, -256},    {KW_F8E5M2, 0x3c, 1},          {KW_F8E5M2, 0x7b, 57344},
      {KW_F8E5M2, 0x01, 0x1p-16},   {KW_F8E5M2, 0xfc, -INFINITY},  {KW_F8E5M2, 0x04, 0x1p-14},
  };
  for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
    assert_true(decode(known[i].dtype, known[i].bits) == known[i].value);
    assert_int_equal(encode(known[i].dtype, known[i].value), known[i].bits);
  }
  assert_true(isnan(decode(KW_F8E4M3FN, 0x7f)) && isnan(decode(KW_F8E4M3FN, 0xff)));
  assert_true(isnan(decode(KW_F8E5M2, 0x7d)) && isnan(decode(KW_F16, 0x7c01)) && isnan(decode(KW_BF16, 0x7fc0)));
}

/* bf16 is the upper half of a float: the compiler's own float is an independent check of every pattern. */
static void test_bf16_is_upper_half(void **state) {
  (void)state;
  for (uint32_t bits = 0; bits < 65536; bits++) {
    uint32_t wide = bits << 16;
    float value;
    memcpy(&value, &wide, sizeof value);
    double decoded = decode(KW_BF16, bits);
    assert_true(isnan(value) ? isnan(decoded) : decoded == (double)value && !signbit(decoded) == !signbit(value));
  }
}

/* Every pattern comes back through load and store of each compute type: x * 1. */
static void test_round_trip(void **state) {
  (void)state;
  for (size_t d = 0; d < 2; d++) { /* arithmetic has f16 and bf16 */
    uint16_t *in = malloc(65536 * sizeof *in), *out = malloc(65536 * sizeof *out);
    for (uint32_t bits = 0; bits < 65536; bits++) in[bits] = (uint16_t)bits;
    kw_tensor_ref self = TENSOR(narrow[d], in, 65536), result = TENSOR(narrow[d], out, 65536);
    for (size_t t = 0; t < 3; t++) {
      memset(out, 0x5a, 65536 * sizeof *out);
      RUN(tables[t], "mul.Scalar", &result, test_arg(&self), test_float(1));
      for (uint32_t bits = 0; bits < 65536; bits++) {
        bool nan = isnan(decode(narrow[d], bits));
        assert_true(nan ? isnan(decode(narrow[d], out[bits])) : out[bits] == bits);
      }
    }
    free(in);
    free(out);
  }
  for (size_t d = 0; d < 4; d++) {
    for (uint32_t bits = 0; bits < pattern_count(narrow[d]); bits++) {
      double value = decode(narrow[d], bits);
      uint32_t back = encode(narrow[d], value);
      assert_true(isnan(value) ? isnan(decode(narrow[d], back)) : back == bits);
    }
  }
}

/* Between every two neighbours: the middle goes to the even one, a hair beside it to the nearer one. */
static void test_ties_and_neighbours(void **state) {
  (void)state;
  for (size_t d = 0; d < 4; d++) {
    uint32_t sign = pattern_count(narrow[d]) / 2;
    for (uint32_t bits = 0; bits + 1 < sign; bits++) {
      double low = decode(narrow[d], bits), high = decode(narrow[d], bits + 1);
      if (!isfinite(high)) break;
      double middle = (low + high) / 2; /* exact: a double has more bits than any of these */
      uint32_t even = bits & 1 ? bits + 1 : bits;
      assert_int_equal(encode(narrow[d], middle), even);
      assert_int_equal(encode(narrow[d], -middle), even | sign);
      assert_int_equal(encode(narrow[d], nextafter(middle, 0)), bits);
      assert_int_equal(encode(narrow[d], nextafter(middle, INFINITY)), bits + 1);
    }
  }
}

static void test_overflow(void **state) {
  (void)state;
  assert_int_equal(encode(KW_F16, 65519.999), 0x7bff);
  assert_int_equal(encode(KW_F16, 65520), 0x7c00);
  assert_int_equal(encode(KW_F16, -1e300), 0xfc00);
  assert_int_equal(encode(KW_F8E4M3FN, 464), 0x7e); /* the middle of 448 and 480: rounds to 448, which is even */
  assert_int_equal(encode(KW_F8E4M3FN, 464.001), 0x7f);
  assert_int_equal(encode(KW_F8E4M3FN, -INFINITY), 0xff);
  assert_int_equal(encode(KW_F8E5M2, 61439), 0x7b);
  assert_int_equal(encode(KW_F8E5M2, 61440), 0x7c);
  assert_int_equal(encode(KW_F16, 0x1p-25), 0); /* half of the smallest: to even, zero */
  assert_int_equal(encode(KW_F16, -0x1.0001p-25), 0x8001);
  assert_int_equal(encode(KW_F16, 5e-324), 0);
  assert_int_equal(encode(KW_BF16, -0.0), 0x8000);
}

/* x + alpha * other = 1 + 2^-23 + 2^-24 - 2^-70 lies just below the middle of two neighbours, on it when first rounded
 * to a double, and the last bit is below the 64 that kw_unpacked keeps: only one direct rounding from 113 bits gives
 * the lower neighbour. */
static void test_f128_rounds_once(void **state) {
  (void)state;
  float one = 1 + 0x1p-23f, small = 0x1.000002p-24f, sum = 0;
  kw_tensor_ref x = TENSOR(KW_F32, &one, 1), other = TENSOR(KW_F32, &small, 1), out = TENSOR(KW_F32, &sum, 1);
  kw_value alpha = test_float(1 - 0x1p-23);
  RUN(kw_reference_f128, "add.Tensor", &out, test_arg(&x), test_arg(&other), alpha);
  assert_true(sum == 1 + 0x1p-23f);
  RUN(kw_reference_f64, "add.Tensor", &out, test_arg(&x), test_arg(&other), alpha);
  assert_true(sum == 1 + 0x1p-22f);
}

static void test_wide_output(void **state) {
  (void)state;
  double a = 1, b = 3;
  kw_wide wide = {9, 9};
  kw_tensor_ref x = TENSOR(KW_F64, &a, 1), y = TENSOR(KW_F64, &b, 1), out = TENSOR(KW_DTYPE_WIDE, &wide, 1);
  RUN(kw_reference_f128, "div.Tensor", &out, test_arg(&x), test_arg(&y));
  assert_true(wide.hi == 1.0 / 3.0 && wide.lo != 0 && fabs(wide.lo) < 0x1p-54);
  assert_true(fma(wide.hi, 3, -1) + 3 * wide.lo < 0x1p-108);
  RUN(kw_reference_f64, "div.Tensor", &out, test_arg(&x), test_arg(&y));
  assert_true(wide.hi == 1.0 / 3.0 && wide.lo == 0);
  b = 0;
  RUN(kw_reference_f128, "div.Tensor", &out, test_arg(&x), test_arg(&y));
  assert_true(isinf(wide.hi) && wide.lo == 0);
}

static int64_t convert_to_int(kw_dtype dtype, double value) {
  char bytes[8];
  kw_number_convert(KW_F64, &value, dtype, bytes);
  return kw_number_load_int(dtype, bytes);
}

static void test_float_to_int(void **state) {
  (void)state;
  assert_int_equal(convert_to_int(KW_U8, -0.9), 0);
  assert_int_equal(convert_to_int(KW_U8, -3), 0);
  assert_int_equal(convert_to_int(KW_U8, 255.9), 255);
  assert_int_equal(convert_to_int(KW_U8, 1e9), 255);
  assert_int_equal(convert_to_int(KW_I8, -128.9), -128);
  assert_int_equal(convert_to_int(KW_I8, 127.5), 127);
  assert_int_equal(convert_to_int(KW_I16, -2.9), -2);
  assert_int_equal(convert_to_int(KW_I32, INFINITY), INT32_MAX);
  assert_int_equal(convert_to_int(KW_I64, 0x1p63), INT64_MAX);
  assert_int_equal(convert_to_int(KW_I64, -INFINITY), INT64_MIN);
  assert_int_equal(convert_to_int(KW_I64, 0x1.fffffffffffffp62), 0x7ffffffffffffc00);
  assert_int_equal(convert_to_int(KW_I32, NAN), 0);
  assert_int_equal(convert_to_int(KW_BOOL, NAN), 1);
  assert_int_equal(convert_to_int(KW_BOOL, 5e-324), 1);
  assert_int_equal(convert_to_int(KW_BOOL, -0.0), 0);
}

static void test_int_to_any(void **state) {
  (void)state;
  char bytes[16];
  int64_t value = 300;
  kw_number_convert(KW_I64, &value, KW_U8, bytes);
  assert_int_equal((uint8_t)bytes[0], 44); /* wraps */
  kw_number_convert(KW_I64, &value, KW_BOOL, bytes);
  assert_int_equal(bytes[0], 1);
  value = 2049; /* between two f16: to even */
  kw_number_convert(KW_I64, &value, KW_F16, bytes);
  assert_true(kw_number_load(KW_F16, bytes) == 2048);
  value = (INT64_C(257) << 53) + 1; /* above the middle of two bf16, but as a double it is the middle */
  kw_number_convert(KW_I64, &value, KW_BF16, bytes);
  assert_true(kw_number_load(KW_BF16, bytes) == 0x1.02p61);
  value = (INT64_C(0x1000001) << 37) + 1; /* the same for f32 */
  kw_number_convert(KW_I64, &value, KW_F32, bytes);
  assert_true(kw_number_load(KW_F32, bytes) == 0x1.000002p61);
  value = INT64_MIN;
  kw_number_convert(KW_I64, &value, KW_F16, bytes);
  assert_true(kw_number_load(KW_F16, bytes) == -INFINITY);
  kw_number_convert(KW_I64, &value, KW_BF16, bytes);
  assert_true(kw_number_load(KW_BF16, bytes) == -0x1p63);
  kw_number_convert(KW_I64, &value, KW_F64, bytes);
  assert_true(kw_number_load(KW_F64, bytes) == -0x1p63);
}

static void test_complex(void **state) {
  (void)state;
  float from[2] = {2.5f, -7}, pair[2];
  double wide[2];
  float single;
  uint8_t flag;
  int16_t integer;
  kw_number_convert(KW_C64, from, KW_C128, wide);
  assert_true(wide[0] == 2.5 && wide[1] == -7);
  kw_number_convert(KW_C128, wide, KW_C64, pair);
  assert_true(pair[0] == 2.5f && pair[1] == -7);
  kw_number_convert(KW_C64, from, KW_F32, &single);
  assert_true(single == 2.5f);
  kw_number_convert(KW_C64, from, KW_I16, &integer);
  assert_int_equal(integer, 2);
  from[0] = 0;
  kw_number_convert(KW_C64, from, KW_BOOL, &flag);
  assert_int_equal(flag, 1);
  from[1] = -0.0f;
  kw_number_convert(KW_C64, from, KW_BOOL, &flag);
  assert_int_equal(flag, 0);
  integer = -3;
  kw_number_convert(KW_I16, &integer, KW_C128, wide);
  assert_true(wide[0] == -3 && wide[1] == 0);
}

static void test_promotion(void **state) {
  (void)state;
  static const kw_dtype cases[][3] = {
      {KW_BOOL, KW_U8, KW_U8},  {KW_U8, KW_I8, KW_I16},    {KW_U8, KW_I16, KW_I16},  {KW_I8, KW_I64, KW_I64},
      {KW_I64, KW_F16, KW_F16}, {KW_F16, KW_BF16, KW_F32}, {KW_F16, KW_F32, KW_F32}, {KW_BF16, KW_F64, KW_F64},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    assert_int_equal(kw_number_promote(cases[i][0], cases[i][1]), cases[i][2]);
    assert_int_equal(kw_number_promote(cases[i][1], cases[i][0]), cases[i][2]);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_known_patterns), cmocka_unit_test(test_bf16_is_upper_half),
      cmocka_unit_test(test_round_trip),     cmocka_unit_test(test_ties_and_neighbours),
      cmocka_unit_test(test_overflow),       cmocka_unit_test(test_f128_rounds_once),
      cmocka_unit_test(test_wide_output),    cmocka_unit_test(test_float_to_int),
      cmocka_unit_test(test_int_to_any),     cmocka_unit_test(test_complex),
      cmocka_unit_test(test_promotion),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
