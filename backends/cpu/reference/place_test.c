/* SPDX-License-Identifier: Apache-2.0
 *
 * Tests of the kernels that place the elements of a tensor elsewhere.
 */
#include "test_call.h"

/* What an op makes of the f32 numbers 1, 2, 3 ... */
static float numbers[24], result[64];

static void expect(const kw_tensor_ref *out, const float *wanted, size_t count, int line) {
  assert_int_equal(out->numel, count);
  for (size_t i = 0; i < count; i++) {
    if (result[i] != wanted[i]) fail_msg("line %d: element %zu is %g, not %g", line, i, result[i], wanted[i]);
  }
}
#define EXPECT(...) expect(&out, (const float[]){__VA_ARGS__}, sizeof((float[]){__VA_ARGS__}) / sizeof(float), __LINE__)

static kw_value ints(const int64_t *list, uint32_t count) {
  return (kw_value){.tag = KW_TAG_INT_LIST, .count = count, .u.ints = list};
}
#define INTS(...) ints((const int64_t[]){__VA_ARGS__}, sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t))
#define INT(number) ((kw_value){.tag = KW_TAG_INT, .u.i = number})
#define OUT(...) TENSOR(KW_F32, result, __VA_ARGS__)
#define CALL(op, ...) RUN(kw_reference_f32, op, &out, __VA_ARGS__)

static int setup(void **state) {
  (void)state;
  for (int i = 0; i < 24; i++) numbers[i] = (float)(i + 1);
  memset(result, 0x7f, sizeof result);
  return 0;
}

static void test_repeat(void **state) {
  (void)state;
  kw_tensor_ref self = TENSOR(KW_F32, numbers, 2, 1), out = OUT(2, 2, 3);
  CALL("repeat", test_arg(&self), INTS(2, 1, 3));
  EXPECT(1, 1, 1, 2, 2, 2, 1, 1, 1, 2, 2, 2);
  self = TENSOR(KW_F32, numbers, 2), out = OUT(4);
  CALL("repeat", test_arg(&self), INTS(2));
  EXPECT(1, 2, 1, 2);
}

static void test_flip(void **state) {
  (void)state;
  kw_tensor_ref self = TENSOR(KW_F32, numbers, 2, 3), out = OUT(2, 3);
  CALL("flip", test_arg(&self), INTS(-1));
  EXPECT(3, 2, 1, 6, 5, 4);
  CALL("flip", test_arg(&self), INTS(0, 1));
  EXPECT(6, 5, 4, 3, 2, 1);
  CALL("flip", test_arg(&self), ints(NULL, 0));
  EXPECT(1, 2, 3, 4, 5, 6);
}

static void test_roll(void **state) {
  (void)state;
  kw_tensor_ref self = TENSOR(KW_F32, numbers, 2, 3), out = OUT(2, 3);
  CALL("roll", test_arg(&self), INTS(1), INTS(1));
  EXPECT(3, 1, 2, 6, 4, 5);
  CALL("roll", test_arg(&self), INTS(-1, 1), INTS(1, 0));
  EXPECT(5, 6, 4, 2, 3, 1);
  CALL("roll", test_arg(&self), INTS(1, 1), INTS(1, -1));
  EXPECT(2, 3, 1, 5, 6, 4);
  CALL("roll", test_arg(&self), INTS(1), ints(NULL, 0));
  EXPECT(6, 1, 2, 3, 4, 5);
  CALL("roll", test_arg(&self), INTS(-13), ints(NULL, 0));
  EXPECT(2, 3, 4, 5, 6, 1);
  CALL("roll", test_arg(&self), INTS(INT64_MIN), INTS(1)); /* 2^63 is 2 modulo 3 */
  EXPECT(3, 1, 2, 6, 4, 5);
}

static void test_triangles(void **state) {
  (void)state;
  kw_tensor_ref self = TENSOR(KW_F32, numbers, 2, 3), out = OUT(2, 3);
  CALL("triu", test_arg(&self), INT(0));
  EXPECT(1, 2, 3, 0, 5, 6);
  CALL("triu", test_arg(&self), INT(1));
  EXPECT(0, 2, 3, 0, 0, 6);
  CALL("tril", test_arg(&self), INT(0));
  EXPECT(1, 0, 0, 4, 5, 0);
  CALL("tril", test_arg(&self), INT(INT64_MIN));
  EXPECT(0, 0, 0, 0, 0, 0);
}

static void test_parts(void **state) {
  (void)state;
  float minus[] = {-1, -2, -3};
  kw_tensor_ref self = TENSOR(KW_F32, numbers, 2, 3), out = OUT(2, 3);
  kw_tensor_ref row = TENSOR(KW_F32, minus, 3), column = TENSOR(KW_F32, minus, 2), two = TENSOR(KW_F32, minus, 1, 3);
  CALL("select_scatter", test_arg(&self), test_arg(&row), INT(0), INT(-1));
  EXPECT(1, 2, 3, -1, -2, -3);
  CALL("select_scatter", test_arg(&self), test_arg(&column), INT(-1), INT(1));
  EXPECT(1, -1, 3, 4, -2, 6);
  CALL("slice_scatter", test_arg(&self), test_arg(&two), INT(0), INT(-2), INT(1), INT(1));
  EXPECT(-1, -2, -3, 4, 5, 6);
  kw_tensor_ref steps = TENSOR(KW_F32, minus, 2, 1);
  CALL("slice_scatter", test_arg(&self), test_arg(&steps), INT(1), INT(2), test_none(), INT(INT64_MAX));
  EXPECT(1, 2, -1, 4, 5, -2);
  kw_tensor_ref nothing = TENSOR(KW_F32, minus, 2, 0);
  CALL("slice_scatter", test_arg(&self), test_arg(&nothing), INT(1), INT(2), INT(1), INT(1));
  EXPECT(1, 2, 3, 4, 5, 6);
}

static void test_pads(void **state) {
  (void)state;
  kw_tensor_ref self = TENSOR(KW_F32, numbers, 2, 3), out = OUT(3, 5);
  CALL("constant_pad_nd", test_arg(&self), INTS(1, 1, 1, 0), test_float(9));
  EXPECT(9, 9, 9, 9, 9, 9, 1, 2, 3, 9, 9, 4, 5, 6, 9);
  out = OUT(2, 3);
  CALL("constant_pad_nd", test_arg(&self), INTS(-1, 1), test_int(0));
  EXPECT(2, 3, 0, 5, 6, 0);
  out = OUT(2, 7);
  CALL("reflection_pad1d", test_arg(&self), INTS(2, 2));
  EXPECT(3, 2, 1, 2, 3, 2, 1, 6, 5, 4, 5, 6, 5, 4);
  CALL("replication_pad1d", test_arg(&self), INTS(3, 1));
  EXPECT(1, 1, 1, 1, 2, 3, 3, 4, 4, 4, 4, 5, 6, 6);
  kw_tensor_ref image = TENSOR(KW_F32, numbers, 1, 2, 2);
  out = OUT(1, 3, 3);
  CALL("reflection_pad2d", test_arg(&image), INTS(1, 0, 0, 1));
  EXPECT(2, 1, 2, 4, 3, 4, 2, 1, 2);
  CALL("replication_pad2d", test_arg(&image), INTS(0, 1, 1, 0));
  EXPECT(1, 2, 2, 1, 2, 2, 3, 4, 4);
}

/* Every place gives its gradient to the element that it shows. */
static void test_pads_backward(void **state) {
  (void)state;
  kw_tensor_ref grad = TENSOR(KW_F32, numbers, 1, 7), self = TENSOR(KW_F32, numbers, 1, 3), out = OUT(1, 3);
  CALL("reflection_pad1d_backward", test_arg(&grad), test_arg(&self), INTS(2, 2)); /* 2 1 | 0 1 2 | 1 0 */
  EXPECT(3 + 7, 2 + 4 + 6, 1 + 5);
  CALL("replication_pad1d_backward", test_arg(&grad), test_arg(&self), INTS(3, 1)); /* 0 0 0 | 0 1 2 | 2 */
  EXPECT(1 + 2 + 3 + 4, 5, 6 + 7);
  grad = TENSOR(KW_F32, numbers, 1, 2);
  CALL("replication_pad1d_backward", test_arg(&grad), test_arg(&self), INTS(-1, 0));
  EXPECT(0, 1, 2);
  grad = TENSOR(KW_F32, numbers, 1, 3, 3), self = TENSOR(KW_F32, numbers, 1, 2, 2), out = OUT(1, 2, 2);
  CALL("reflection_pad2d_backward", test_arg(&grad), test_arg(&self), INTS(1, 0, 0, 1));
  EXPECT(2 + 8, 1 + 3 + 7 + 9, 5, 4 + 6);
}

/* A signalling NaN moves as it is; the fill is converted as in fill_. */
static void test_bits_are_kept(void **state) {
  (void)state;
  const uint32_t odd[2] = {0x7f812345, 0x80000000};
  uint32_t bits[3];
  kw_tensor_ref self = TENSOR(KW_F32, odd, 2), out = TENSOR(KW_F32, bits, 3);
  CALL("constant_pad_nd", test_arg(&self), INTS(1, 0), test_float(-0.0));
  assert_true(bits[0] == 0x80000000 && bits[1] == odd[0] && bits[2] == odd[1]);
  const uint8_t bytes[2] = {1, 2};
  uint8_t small[3];
  kw_tensor_ref u8 = TENSOR(KW_U8, bytes, 2);
  out = TENSOR(KW_U8, small, 3);
  CALL("constant_pad_nd", test_arg(&u8), INTS(0, 1), test_float(300.75));
  assert_true(small[0] == 1 && small[1] == 2 && small[2] == 255);
  out = TENSOR(KW_F16, bits, 3);
  assert_int_equal(TRY(kw_reference_f32, "constant_pad_nd", &out, test_arg(&u8), INTS(0, 1), test_float(1)),
                   KW_ERR_INVALID_ARGUMENT);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(test_repeat, setup),        cmocka_unit_test_setup(test_flip, setup),
      cmocka_unit_test_setup(test_roll, setup),          cmocka_unit_test_setup(test_triangles, setup),
      cmocka_unit_test_setup(test_parts, setup),         cmocka_unit_test_setup(test_pads, setup),
      cmocka_unit_test_setup(test_pads_backward, setup), cmocka_unit_test(test_bits_are_kept),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
