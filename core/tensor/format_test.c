/* SPDX-License-Identifier: Apache-2.0
 *
 * Tensors as text.
 */
#include "testing/test_device.h"

#include <math.h>

static test_device *test;

static int open_device(void **state) {
  (void)state;
  test = test_device_open("npu:0", 0);
  return 0;
}

static int close_device(void **state) {
  (void)state;
  test_device_close(test);
  return 0;
}

static void expect(kw_dtype dtype, uint32_t rank, const int64_t *shape, const void *values, const char *expected) {
  kw_tensor *tensor = NULL;
  char text[4096];
  assert_ok(kw_tensor_create(&test->device, dtype, rank, shape, &tensor));
  assert_ok(kw_tensor_write(tensor, values));
  assert_ok(kw_tensor_format(tensor, text, sizeof text));
  assert_string_equal(text, expected);
  kw_tensor_release(tensor);
}

#define DIMS(...) ((int64_t[]){__VA_ARGS__})

static void shapes(void **state) {
  (void)state;
  expect(KW_F32, 2, DIMS(2, 2), (float[]){1, 2, 3, 4}, "tensor([[1, 2], [3, 4]], f32, npu:0)");
  expect(KW_I64, 0, NULL, (int64_t[]){5}, "tensor(5, i64, npu:0)");
  expect(KW_I32, 3, DIMS(2, 1, 2), (int32_t[]){1, 2, 3, 4}, "tensor([[[1, 2]], [[3, 4]]], i32, npu:0)");
  expect(KW_F32, 2, DIMS(0, 3), NULL, "tensor([], f32[0, 3], npu:0)");
}

static void integers(void **state) {
  (void)state;
  expect(KW_BOOL, 1, DIMS(2), (uint8_t[]){1, 0}, "tensor([true, false], bool, npu:0)");
  expect(KW_U8, 1, DIMS(1), (uint8_t[]){255}, "tensor([255], u8, npu:0)");
  expect(KW_I8, 1, DIMS(1), (int8_t[]){-128}, "tensor([-128], i8, npu:0)");
  expect(KW_I16, 1, DIMS(1), (int16_t[]){-32768}, "tensor([-32768], i16, npu:0)");
  expect(KW_I32, 1, DIMS(1), (int32_t[]){INT32_MIN}, "tensor([-2147483648], i32, npu:0)");
  expect(KW_I64, 1, DIMS(1), (int64_t[]){INT64_MIN}, "tensor([-9223372036854775808], i64, npu:0)");
}

static void floats(void **state) {
  (void)state;
  expect(KW_F32, 1, DIMS(8), (float[]){0.1f, 1.0f / 3, 1e30f, -0.0f, 16777216, NAN, INFINITY, -INFINITY},
         "tensor([0.1, 0.33333334, 1e+30, -0, 16777216, nan, inf, -inf], f32, npu:0)");
  expect(KW_F64, 1, DIMS(3), (double[]){0.1, 1.0 / 3, 5e-324}, "tensor([0.1, 0.3333333333333333, 5e-324], f64, npu:0)");
  expect(KW_F32, 1, DIMS(4), (float[]){10, -100, 123456, 3e6f}, "tensor([10, -100, 123456, 3e+06], f32, npu:0)");
  /* 1, 0.1, 65504, smallest subnormal, nan, -inf */
  expect(KW_F16, 1, DIMS(6), (uint16_t[]){0x3c00, 0x2e66, 0x7bff, 0x0001, 0x7e00, 0xfc00},
         "tensor([1, 0.1, 65504, 5.96e-08, nan, -inf], f16, npu:0)");
  expect(KW_BF16, 1, DIMS(4), (uint16_t[]){0x3f80, 0x3dcd, 0x7f80, 0xc0490 >> 4},
         "tensor([1, 0.1, inf, -3.14], bf16, npu:0)");
  expect(KW_F8E4M3FN, 1, DIMS(5), (uint8_t[]){0x38, 0x7e, 0x7f, 0x01, 0xb8},
         "tensor([1, 448, nan, 0.002, -1], f8e4m3fn, npu:0)");
  expect(KW_F8E5M2, 1, DIMS(4), (uint8_t[]){0x3c, 0x7b, 0x7c, 0x7e}, "tensor([1, 57344, inf, nan], f8e5m2, npu:0)");
  expect(KW_C64, 1, DIMS(2), (float[]){1, -2.5f, 0, NAN}, "tensor([1-2.5j, 0+nanj], c64, npu:0)");
  expect(KW_C128, 1, DIMS(1), (double[]){0.1, 2}, "tensor([0.1+2j], c128, npu:0)");
}

/* What is printed reads back as the same f32. */
static void f32_round_trips(void **state) {
  (void)state;
  unsigned seed = 1;
  kw_tensor *tensor = NULL;
  assert_ok(kw_tensor_create(&test->device, KW_F32, 0, NULL, &tensor));
  for (int i = 0; i < 2000; ++i) {
    uint32_t bits = (uint32_t)rand_r(&seed) << 16 ^ (uint32_t)rand_r(&seed);
    float value;
    memcpy(&value, &bits, sizeof value);
    if (!isfinite(value)) continue;
    char text[100];
    assert_ok(kw_tensor_write(tensor, &value));
    assert_ok(kw_tensor_format(tensor, text, sizeof text));
    float back = strtof(text + strlen("tensor("), NULL);
    assert_memory_equal(&back, &value, sizeof value);
  }
  kw_tensor_release(tensor);
}

static void long_tensors_are_abbreviated(void **state) {
  (void)state;
  int32_t *values = malloc(2000 * sizeof *values);
  for (int32_t i = 0; i < 2000; ++i) values[i] = i;
  expect(KW_I32, 1, DIMS(2000), values, "tensor([0, 1, 2, ..., 1997, 1998, 1999], i32, npu:0)");
  expect(KW_I32, 2, DIMS(1000, 2), values,
         "tensor([[0, 1], [2, 3], [4, 5], ..., [1994, 1995], [1996, 1997], [1998, 1999]], i32, npu:0)");
  expect(KW_I32, 1, DIMS(7), values, "tensor([0, 1, 2, 3, 4, 5, 6], i32, npu:0)");
  free(values);
}

static void text_is_cut_like_snprintf(void **state) {
  (void)state;
  kw_tensor *tensor = NULL, *turned = NULL;
  assert_ok(kw_tensor_create(&test->device, KW_I8, 2, DIMS(2, 2), &tensor));
  assert_ok(kw_tensor_write(tensor, (int8_t[]){1, 2, 3, 4}));
  char text[32];
  memset(text, 'x', sizeof text);
  assert_ok(kw_tensor_format(tensor, text, 12));
  assert_string_equal(text, "tensor([[1,");
  assert_int_equal(text[12], 'x');
  assert_ok(kw_tensor_format(tensor, text, 1));
  assert_string_equal(text, "");
  assert_ok(kw_tensor_format(tensor, NULL, 0));
  assert_int_equal(kw_tensor_format(tensor, NULL, 5), KW_ERR_INVALID_ARGUMENT);
  assert_error("argument text");
  assert_int_equal(kw_tensor_format(NULL, text, 5), KW_ERR_INVALID_ARGUMENT);
  assert_ok(kw_tensor_transpose(tensor, 0, 1, &turned));
  char turned_text[64];
  assert_ok(kw_tensor_format(turned, turned_text, sizeof turned_text));
  assert_string_equal(turned_text, "tensor([[1, 3], [2, 4]], i8, npu:0)");
  kw_tensor_release(turned);
  kw_tensor_release(tensor);
}

static void what_no_op_computes_on(void **state) {
  (void)state;
  static const struct {
    kw_dtype dtype;
    uint8_t bytes[8];
    const char *text;
  } rows[] = {
      {KW_U16, {0xff, 0xfe}, "tensor([65279], u16, npu:0)"},
      {KW_U32, {0, 0, 0, 0x80}, "tensor([2147483648], u32, npu:0)"},
      {KW_U64, {1, 0, 0, 0, 0, 0, 0, 0x80}, "tensor([9223372036854775809], u64, npu:0)"},
      {KW_C32, {1, 2, 3, 4}, "tensor([0x04030201], c32, npu:0)"},
      {KW_F8E8M0, {0x7f}, "tensor([0x7f], f8e8m0, npu:0)"},
      {KW_F4E2M1X2, {0xa1}, "tensor([0xa1], f4e2m1x2, npu:0)"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
    kw_tensor *tensor;
    char text[80];
    assert_ok(kw_tensor_create(&test->device, rows[i].dtype, 1, (int64_t[]){1}, &tensor));
    assert_ok(kw_tensor_write(tensor, rows[i].bytes));
    assert_ok(kw_tensor_format(tensor, text, sizeof text));
    assert_string_equal(text, rows[i].text);
    kw_tensor_release(tensor);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(shapes),
      cmocka_unit_test(integers),
      cmocka_unit_test(what_no_op_computes_on),
      cmocka_unit_test(floats),
      cmocka_unit_test(f32_round_trips),
      cmocka_unit_test(long_tensors_are_abbreviated),
      cmocka_unit_test(text_is_cut_like_snprintf),
  };
  return cmocka_run_group_tests(tests, open_device, close_device);
}
