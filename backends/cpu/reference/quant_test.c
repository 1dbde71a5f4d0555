/* SPDX-License-Identifier: Apache-2.0
 *
 * Quantisation, and what conversions to f8 do.
 */
#include "test_call.h"

#include <math.h>

#define Q "quantized_decomposed::"

static const test_table tables[] = {kw_reference_f32, kw_reference_f64, kw_reference_f128};

static kw_value int_arg(int64_t i) {
  return (kw_value){.tag = KW_TAG_INT, .u.i = i};
}

static kw_value scale_arg(double f) {
  return (kw_value){.tag = KW_TAG_FLOAT, .u.f = f};
}

static kw_value dtype_arg(kw_dtype dtype) {
  return (kw_value){.tag = KW_TAG_DTYPE, .u.dtype = dtype};
}

/* Half to even first, the zero point then; NaN is 0, the rest is cut. */
static void test_quantize(void **state) {
  (void)state;
  const float x[] = {0.5f, 1.5f, 2.5f, -0.5f, -2.5f, 1e30f, -1e30f, INFINITY, -INFINITY, NAN, -0.0f, 1.2f};
  const int8_t wanted[] = {1, 3, 3, 1, -1, 7, -8, 7, -8, 0, 1, 2};
  int8_t out[12];
  kw_tensor_ref in = TENSOR(KW_F32, x, 12), result = TENSOR(KW_I8, out, 12);
  for (size_t t = 0; t < 3; t++) {
    RUN(tables[t], Q "quantize_per_tensor", &result, test_arg(&in), scale_arg(1), int_arg(1), int_arg(-8), int_arg(7),
        dtype_arg(KW_I8));
    assert_memory_equal(out, wanted, sizeof out);
  }
  const float tenth[] = {0.1f, 12.75f, -3.f}; /* 0.1f / 0.1f is 1 exactly, in any type */
  uint8_t codes[3];
  kw_tensor_ref few = TENSOR(KW_F32, tenth, 3), to = TENSOR(KW_U8, codes, 3);
  for (size_t t = 0; t < 3; t++) {
    RUN(tables[t], Q "quantize_per_tensor", &to, test_arg(&few), scale_arg(0.1), int_arg(128), int_arg(0), int_arg(255),
        dtype_arg(KW_U8));
    assert_memory_equal(codes, ((uint8_t[]){129, 255, 98}), sizeof codes);
  }
}

static void test_quantize_saturates(void **state) {
  (void)state;
  const float x[] = {3e38f, -3e38f, 1, 2147483648.f, 0};
  int32_t out[5];
  const float scale = 1e-30f, zero_scale = 0;
  int64_t zero = INT64_MAX, low_zero = INT64_MIN;
  kw_tensor_ref in = TENSOR(KW_F32, x, 5), result = TENSOR(KW_I32, out, 5), by = RANK0(KW_F32, &scale);
  kw_tensor_ref up = RANK0(KW_I64, &zero), down = RANK0(KW_I64, &low_zero), nothing = RANK0(KW_F32, &zero_scale);
  for (size_t t = 0; t < 3; t++) {
    RUN(tables[t], Q "quantize_per_tensor", &result, test_arg(&in), scale_arg(1), int_arg(-1), int_arg(INT32_MIN),
        int_arg(INT32_MAX), dtype_arg(KW_I32));
    assert_memory_equal(out, ((int32_t[]){INT32_MAX, INT32_MIN, 0, INT32_MAX, -1}), sizeof out);
    RUN(tables[t], Q "quantize_per_tensor.tensor", &result, test_arg(&in), test_arg(&by), test_arg(&up), int_arg(-9),
        int_arg(9), dtype_arg(KW_I32));
    assert_memory_equal(out, ((int32_t[]){9, -9, 9, 9, 9}), sizeof out);
    RUN(tables[t], Q "quantize_per_tensor.tensor", &result, test_arg(&in), test_arg(&nothing), test_arg(&down),
        int_arg(-9), int_arg(9), dtype_arg(KW_I32));
    assert_memory_equal(out, ((int32_t[]){9, -9, 9, 9, 0}), sizeof out); /* infinities, and 0 / 0 */
  }
}

static void test_channels(void **state) {
  (void)state;
  const float x[6] = {1, 2, 3, -4, 5, 6}, scales[3] = {0.5f, 1, 2};
  const int32_t zeros[3] = {10, 0, -10};
  int8_t codes[6];
  float out[6];
  kw_tensor_ref in = TENSOR(KW_F32, x, 2, 3), code = TENSOR(KW_I8, codes, 2, 3), result = TENSOR(KW_F32, out, 2, 3);
  kw_tensor_ref by = TENSOR(KW_F32, scales, 3), zero = TENSOR(KW_I32, zeros, 3), pair = TENSOR(KW_F32, scales, 2);
  for (size_t t = 0; t < 3; t++) {
    for (int64_t axis = -1; axis < 2; axis += 2) {
      RUN(tables[t], Q "quantize_per_channel", &code, test_arg(&in), test_arg(&by), test_arg(&zero), int_arg(axis),
          int_arg(-128), int_arg(127), dtype_arg(KW_I8));
      assert_memory_equal(codes, ((int8_t[]){12, 2, -8, 2, 5, -7}), sizeof codes); /* 1.5 is even at 2 */
    }
    RUN(tables[t], Q "dequantize_per_channel", &result, test_arg(&code), test_arg(&by), test_arg(&zero), int_arg(1),
        int_arg(-128), int_arg(127), dtype_arg(KW_I8), test_none());
    assert_memory_equal(out, ((float[]){1, 2, 4, -4, 5, 6}), sizeof out);
    RUN(tables[t], Q "dequantize_per_channel", &result, test_arg(&code), test_arg(&pair), test_none(), int_arg(0),
        int_arg(-128), int_arg(127), dtype_arg(KW_I8), test_none());
    assert_memory_equal(out, ((float[]){6, 1, -4, 2, 5, -7}), sizeof out);
  }
}

static void test_dequantize(void **state) {
  (void)state;
  const int32_t codes[3] = {INT32_MAX, INT32_MIN, 7};
  float out[3];
  uint16_t half[3];
  kw_tensor_ref in = TENSOR(KW_I32, codes, 3), result = TENSOR(KW_F32, out, 3), narrow = TENSOR(KW_F16, half, 3);
  for (size_t t = 0; t < 3; t++) { /* the difference is taken in integers */
    RUN(tables[t], Q "dequantize_per_tensor", &result, test_arg(&in), scale_arg(0.5), int_arg(INT32_MAX), int_arg(0),
        int_arg(1), dtype_arg(KW_I32), test_none());
    assert_memory_equal(out, ((float[]){0, -2147483648.f, -1073741820.f}), sizeof out);
    RUN(tables[t], Q "dequantize_per_tensor", &narrow, test_arg(&in), scale_arg(0.5), int_arg(1), int_arg(0),
        int_arg(1), dtype_arg(KW_I32), dtype_arg(KW_F16));
    assert_memory_equal(half, ((uint16_t[]){0x7c00, 0xfc00, 0x4200}), sizeof half);
  }
}

/* The codes next to the exact one, where the quotient is close enough to a boundary, and nowhere else. */
static void test_limits(void **state) {
  (void)state;
  const float x[] = {0.5f, 2.4999998f, 2.5000002f, 2.499f, 20000001.5f, NAN, INFINITY};
  const int32_t low[] = {0, 2, 2, 2, 19999991, 0, 1 << 30}, high[] = {1, 3, 3, 2, 20000013, 0, 1 << 30};
  int32_t out[7];
  kw_tensor_ref in = TENSOR(KW_F32, x, 7), result = TENSOR(KW_I32, out, 7);
  for (size_t t = 1; t < 3; t++) {
    RUN(tables[t], Q "quantize_per_tensor/low", &result, test_arg(&in), scale_arg(1), int_arg(0), int_arg(-(1 << 30)),
        int_arg(1 << 30), dtype_arg(KW_I32));
    assert_memory_equal(out, low, sizeof out);
    RUN(tables[t], Q "quantize_per_tensor/high", &result, test_arg(&in), scale_arg(1), int_arg(0), int_arg(-(1 << 30)),
        int_arg(1 << 30), dtype_arg(KW_I32));
    assert_memory_equal(out, high, sizeof out);
  }
}

/* The largest numbers of f8: 57344 in f8e5m2, beyond which there is infinity; 448 in f8e4m3fn, beyond which there is
 * NaN. Ties go to even. */
static void test_f8(void **state) {
  (void)state;
  const float x[] = {57344, 61439, 61440, 448, 464, 465, -448, INFINITY, NAN, 17, 19, 0x1p-10f, 0x1.8p-10f, 0x1p-17f};
  const uint8_t e5m2[] = {0x7b, 0x7b, 0x7c, 0x5f, 0x5f, 0x5f, 0xdf, 0x7c, 0x7e, 0x4c, 0x4d, 0x14, 0x16, 0x00};
  const uint8_t e4m3fn[] = {0x7f, 0x7f, 0x7f, 0x7e, 0x7e, 0x7f, 0xfe, 0x7f, 0x7f, 0x58, 0x5a, 0x00, 0x01, 0x00};
  uint8_t out[14];
  float back[3];
  kw_tensor_ref in = TENSOR(KW_F32, x, 14), wide = TENSOR(KW_F8E5M2, out, 14), fine = TENSOR(KW_F8E4M3FN, out, 14);
  kw_tensor_ref few = TENSOR(KW_F8E5M2, e5m2, 1), number = TENSOR(KW_F32, back, 1);
  for (size_t t = 0; t < 3; t++) {
    RUN(tables[t], "_to_copy", &fine, test_arg(&in), dtype_arg(KW_F8E4M3FN), (kw_value){.tag = KW_TAG_BOOL});
    assert_memory_equal(out, e4m3fn, sizeof out);
    RUN(tables[t], "copy_", &wide, test_arg(&wide), test_arg(&in), (kw_value){.tag = KW_TAG_BOOL});
    assert_memory_equal(out, e5m2, sizeof out);
    RUN(tables[t], "_to_copy", &number, test_arg(&few), dtype_arg(KW_F32), (kw_value){.tag = KW_TAG_BOOL});
    assert_true(back[0] == 57344);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_quantize), cmocka_unit_test(test_quantize_saturates),
      cmocka_unit_test(test_channels), cmocka_unit_test(test_dequantize),
      cmocka_unit_test(test_limits),   cmocka_unit_test(test_f8),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
