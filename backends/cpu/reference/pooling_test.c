/* SPDX-License-Identifier: Apache-2.0
 *
 * Pools. Expected numbers were worked out by hand.
 */
#include "test_call.h"

#include <math.h>

static const test_table tables[] = {kw_reference_f32, kw_reference_f64, kw_reference_f128};

#define COUNT(array) (sizeof(array) / sizeof(array)[0])
#define INTS(...) test_ints((const int64_t[]){__VA_ARGS__}, COUNT(((const int64_t[]){__VA_ARGS__})))

static kw_value test_ints(const int64_t *ints, size_t count) {
  return (kw_value){.tag = KW_TAG_INT_LIST, .count = (uint32_t)count, .u.ints = ints};
}

static kw_value flag(bool b) {
  return (kw_value){.tag = KW_TAG_BOOL, .u.b = b};
}

static kw_value number(int64_t i) {
  return (kw_value){.tag = KW_TAG_INT, .u.i = i};
}

/* An int[N] without entries. */
static kw_value nothing(void) {
  return (kw_value){.tag = KW_TAG_INT_LIST};
}

static float result[64];
static int64_t where[64];

#define EXPECT(...) expect((const float[]){__VA_ARGS__}, COUNT(((const float[]){__VA_ARGS__})))
static void expect(const float *expected, size_t count) {
  for (size_t i = 0; i < count; i++) {
    bool same = isnan(expected[i]) ? isnan(result[i]) : result[i] == expected[i];
    if (!same) fail_msg("element %zu is %g, not %g", i, (double)result[i], (double)expected[i]);
  }
}

#define EXPECT_WHERE(...) expect_where((const int64_t[]){__VA_ARGS__}, COUNT(((const int64_t[]){__VA_ARGS__})))
static void expect_where(const int64_t *expected, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (where[i] != expected[i]) fail_msg("index %zu is %d, not %d", i, (int)where[i], (int)expected[i]);
  }
}

/* An op with two results: values in `result`, indices in `where`, both of this shape. */
static void run_max(const char *op, uint32_t rank, const int64_t *shape, const kw_value *args, uint32_t count) {
  kw_tensor_ref values = test_tensor(KW_F32, result, rank, shape), indices = test_tensor(KW_I64, where, rank, shape);
  const kw_tensor_ref *outs[] = {&values, &indices};
  kw_call call = {.struct_size = sizeof call, .arg_count = count, .out_count = 2, .op = op, .args = args, .outs = outs};
  memset(result, 0, sizeof result);
  memset(where, 0xff, sizeof where);
  assert_int_equal(test_call(kw_reference_f32, &call), KW_OK);
}

#define SHAPE(...)                                             \
  COUNT(((const int64_t[]){__VA_ARGS__})), (const int64_t[]) { \
    __VA_ARGS__                                                \
  }
#define ARGS(...) (const kw_value[]){__VA_ARGS__}, COUNT(((const kw_value[]){__VA_ARGS__}))

/* ---- Averages -------------------------------------------------------------------------------------------------- */

static const float counted[24] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23};

static void test_average(void **state) {
  (void)state;
  kw_tensor_ref in = TENSOR(KW_F32, counted, 2, 3, 4), out = TENSOR(KW_F32, result, 2, 1, 2);
  RUN(kw_reference_f32, "avg_pool2d", &out, test_arg(&in), INTS(2), nothing(), INTS(0), flag(false), flag(true),
      test_none());
  EXPECT(2.5f, 4.5f, 14.5f, 16.5f);
  RUN(kw_reference_f32, "avg_pool2d", &out, test_arg(&in), INTS(2, 1), INTS(2, 3), INTS(0), flag(false), flag(true),
      test_none());
  EXPECT(2, 5, 14, 17);
  out = TENSOR(KW_F32, result, 2, 2, 4);
  kw_tensor_ref rows = TENSOR(KW_F32, counted, 2, 3, 4);
  rows.strides[1] = 1; /* the planes transposed: [[0, 3, 6, 9], [1, 4, 7, 10], [2, 5, 8, 11]] as 3 x 4 */
  rows.strides[2] = 3;
  RUN(kw_reference_f32, "avg_pool2d", &out, test_arg(&rows), INTS(2, 1), INTS(1), INTS(0), flag(false), flag(true),
      test_none());
  EXPECT(0.5f, 3.5f, 6.5f, 9.5f, 1.5f, 4.5f, 7.5f, 10.5f, 12.5f);
}

/* Of 5 in windows of 3, every 2, with 1 before and behind, and of 4, where the last window hangs over by 1. */
static void test_average_at_the_edges(void **state) {
  (void)state;
  const float ones[5] = {1, 1, 1, 1, 1};
  kw_tensor_ref five = TENSOR(KW_F32, ones, 1, 1, 5), four = TENSOR(KW_F32, ones, 1, 1, 4);
  kw_tensor_ref out = TENSOR(KW_F32, result, 1, 1, 3);
  const float two = 2.0f / 3;
  for (int t = 0; t < 3; t++) {
    bool ceil = t > 0;
    const kw_tensor_ref *in = t == 2 ? &four : &five;
    RUN(kw_reference_f32, "avg_pool2d", &out, test_arg(in), INTS(1, 3), INTS(1, 2), INTS(0, 1), flag(ceil), flag(true),
        test_none());
    if (t < 2) EXPECT(two, 1, two);
    if (t == 2) EXPECT(two, 1, 0.5f); /* one element and one of the padding */
    RUN(kw_reference_f32, "avg_pool2d", &out, test_arg(in), INTS(1, 3), INTS(1, 2), INTS(0, 1), flag(ceil), flag(false),
        test_none());
    EXPECT(1, 1, 1);
    RUN(kw_reference_f32, "avg_pool2d", &out, test_arg(in), INTS(1, 3), INTS(1, 2), INTS(0, 1), flag(ceil), flag(true),
        number(-4));
    if (t < 2) EXPECT(-0.5f, -0.75f, -0.5f);
    if (t == 2) EXPECT(-0.5f, -0.75f, -0.25f);
  }
}

static void test_average_of_other_ranks(void **state) {
  (void)state;
  kw_tensor_ref line = TENSOR(KW_F32, counted, 2, 6), block = TENSOR(KW_F32, counted, 1, 2, 3, 4);
  kw_tensor_ref out = TENSOR(KW_F32, result, 2, 3);
  RUN(kw_reference_f32, "avg_pool1d", &out, test_arg(&line), INTS(2), nothing(), INTS(0), flag(false), flag(true));
  EXPECT(0.5f, 2.5f, 4.5f, 6.5f, 8.5f, 10.5f);
  out = TENSOR(KW_F32, result, 1, 1, 2, 2);
  RUN(kw_reference_f32, "avg_pool3d", &out, test_arg(&block), INTS(2), INTS(1, 1, 2), INTS(0), flag(false), flag(true),
      test_none());
  EXPECT(8.5f, 10.5f, 12.5f, 14.5f);
  const float one = 1;
  kw_tensor_ref half = TENSOR(KW_F16, counted, 2, 6), point = TENSOR(KW_I32, &one, 1, 1);
  half.dtype = KW_I32;
  point.dtype = KW_I32;
  assert_int_equal(TRY(kw_reference_f32, "avg_pool1d", &point, test_arg(&half), INTS(6), nothing(), INTS(0),
                       flag(false), flag(true)),
                   KW_ERR_INVALID_ARGUMENT);
}

/* Windows of 5 into 3: elements 0-1, 1-3, 3-4; into 7, more than there are. */
static void test_adaptive_average(void **state) {
  (void)state;
  kw_tensor_ref in = TENSOR(KW_F32, counted, 1, 5), out = TENSOR(KW_F32, result, 1, 3);
  RUN(kw_reference_f32, "adaptive_avg_pool1d", &out, test_arg(&in), INTS(3));
  EXPECT(0.5f, 2, 3.5f);
  out = TENSOR(KW_F32, result, 1, 7);
  RUN(kw_reference_f32, "adaptive_avg_pool1d", &out, test_arg(&in), INTS(7));
  EXPECT(0, 0.5f, 1.5f, 2, 2.5f, 3.5f, 4);
  kw_tensor_ref plane = TENSOR(KW_F32, counted, 1, 3, 4), square = TENSOR(KW_F32, result, 1, 2, 2);
  RUN(kw_reference_f32, "_adaptive_avg_pool2d", &square, test_arg(&plane), INTS(2));
  EXPECT(2.5f, 4.5f, 6.5f, 8.5f); /* rows 0-1 and 1-2 */
}

/* (growth(4) + 4) * 2.5 eps and 10 of the smallest subnormals, in every compute type. */
static void test_magnitude(void **state) {
  (void)state;
  const float x[4] = {1, -2, 3, -4};
  kw_wide wide[1];
  kw_tensor_ref in = TENSOR(KW_F32, x, 1, 4), out = TENSOR(KW_DTYPE_WIDE, wide, 1, 1);
  for (size_t t = 0; t < COUNT(tables); t++) {
    RUN(tables[t], "avg_pool1d/magnitude", &out, test_arg(&in), INTS(4), nothing(), INTS(0), flag(false), flag(true));
    assert_true(wide[0].hi == 20);
    RUN(tables[t], "adaptive_avg_pool1d/magnitude", &out, test_arg(&in), INTS(1));
    assert_true(wide[0].hi == 20);
    RUN(tables[t], "avg_pool1d", &out, test_arg(&in), INTS(4), nothing(), INTS(0), flag(false), flag(true));
    assert_true(wide[0].hi == -0.5);
  }
}

/* ---- Maxima ---------------------------------------------------------------------------------------------------- */

static void test_maximum(void **state) {
  (void)state;
  const float x[12] = {1, 5, 2, 4, 3, 5, 0, 4, -1, -2, -3, -4};
  kw_tensor_ref in = TENSOR(KW_F32, x, 1, 3, 4);
  run_max("max_pool2d_with_indices", SHAPE(1, 1, 2),
          ARGS(test_arg(&in), INTS(2), nothing(), INTS(0), INTS(1), flag(false)));
  EXPECT(5, 4);
  EXPECT_WHERE(1, 3); /* the first of equals */
  run_max("max_pool2d_with_indices", SHAPE(1, 2, 2),
          ARGS(test_arg(&in), INTS(2), nothing(), INTS(0), INTS(1), flag(true)));
  EXPECT(5, 4, -1, -3);
  EXPECT_WHERE(1, 3, 8, 10);
  run_max("max_pool2d_with_indices", SHAPE(1, 1, 2),
          ARGS(test_arg(&in), INTS(2), INTS(1), INTS(0), INTS(2), flag(false)));
  EXPECT(2, 5);
  EXPECT_WHERE(2, 1);
  run_max("max_pool2d_with_indices", SHAPE(1, 2, 3),
          ARGS(test_arg(&in), INTS(2), INTS(2), INTS(1), INTS(1), flag(false)));
  EXPECT(1, 5, 4, 3, 5, 4);
  EXPECT_WHERE(0, 1, 3, 4, 5, 7);
}

/* The padding is below everything, minus infinity too; of several NaN the last counts. */
static void test_maximum_of_special_values(void **state) {
  (void)state;
  const float low = -INFINITY, x[6] = {low, low, NAN, NAN, 1, 7};
  kw_tensor_ref in = TENSOR(KW_F32, x, 1, 6);
  run_max("max_pool1d_with_indices", SHAPE(1, 6), ARGS(test_arg(&in), INTS(3), INTS(1), INTS(1), INTS(1), flag(false)));
  EXPECT(low, NAN, NAN, NAN, NAN, 7);
  EXPECT_WHERE(0, 2, 3, 3, 3, 5);
  run_max("adaptive_max_pool1d", SHAPE(1, 3), ARGS(test_arg(&in), INTS(3)));
  EXPECT(low, NAN, 7);
  EXPECT_WHERE(0, 3, 5);
}

static void test_maximum_of_blocks(void **state) {
  (void)state;
  kw_tensor_ref in = TENSOR(KW_F32, counted, 1, 2, 3, 4);
  run_max("max_pool3d_with_indices", SHAPE(1, 1, 1, 2),
          ARGS(test_arg(&in), INTS(2), nothing(), INTS(0), INTS(1), flag(false)));
  EXPECT(17, 19);
  EXPECT_WHERE(17, 19);
  run_max("adaptive_max_pool3d", SHAPE(1, 2, 1, 1), ARGS(test_arg(&in), INTS(2, 1, 1)));
  EXPECT(11, 23);
  EXPECT_WHERE(11, 23);
  run_max("adaptive_max_pool2d", SHAPE(1, 2, 1, 2), ARGS(test_arg(&in), INTS(1, 2)));
  EXPECT(9, 11, 21, 23);
  EXPECT_WHERE(9, 11, 9, 11); /* in the plane */
}

/* 2^53 and 2^53 + 1 are one as doubles. */
static void test_maximum_of_integers(void **state) {
  (void)state;
  const int64_t x[3] = {-5, INT64_C(9007199254740992), INT64_C(9007199254740993)};
  int64_t values[1], indices[1];
  kw_tensor_ref in = TENSOR(KW_I64, x, 1, 3), out = TENSOR(KW_I64, values, 1, 1), at = TENSOR(KW_I64, indices, 1, 1);
  const kw_value args[] = {test_arg(&in), INTS(3), nothing(), INTS(0), INTS(1), flag(false)};
  const kw_tensor_ref *outs[] = {&out, &at};
  kw_call call = {
      .op = "max_pool1d_with_indices", .args = args, .arg_count = COUNT(args), .outs = outs, .out_count = 2};
  assert_int_equal(test_call(kw_reference_f32, &call), KW_OK);
  assert_true(values[0] == x[2] && indices[0] == 2);
}

/* ---- Gradients ------------------------------------------------------------------------------------------------- */

/* Of 4 in windows of 3, every 2, with 1 before: elements 0 and 1, 1 to 3. */
static void test_average_backward(void **state) {
  (void)state;
  const float grads[2] = {3, 6};
  kw_tensor_ref grad = TENSOR(KW_F32, grads, 1, 1, 2), self = TENSOR(KW_F32, counted, 1, 1, 4);
  kw_tensor_ref out = TENSOR(KW_F32, result, 1, 1, 4);
  const kw_value g = test_arg(&grad), x = test_arg(&self);
  const char *op = "avg_pool2d_backward";
  RUN(kw_reference_f32, op, &out, g, x, INTS(1, 3), INTS(1, 2), INTS(0, 1), flag(false), flag(true), test_none());
  EXPECT(1, 3, 2, 2);
  RUN(kw_reference_f32, op, &out, g, x, INTS(1, 3), INTS(1, 2), INTS(0, 1), flag(false), flag(false), test_none());
  EXPECT(1.5f, 3.5f, 2, 2);
  RUN(kw_reference_f32, op, &out, g, x, INTS(1, 3), INTS(1, 2), INTS(0, 1), flag(false), flag(true), number(-3));
  EXPECT(-1, -3, -2, -2);
  RUN(kw_reference_f32, op, &out, g, x, INTS(1), INTS(1, 2), INTS(0), flag(false), flag(true), test_none());
  EXPECT(3, 0, 6, 0); /* gaps */
  RUN(kw_reference_f32, "avg_pool2d_backward/magnitude", &out, g, x, INTS(1), INTS(1, 2), INTS(0), flag(false),
      flag(true), test_none());
  EXPECT(15, 0x1p-125f, 30); /* growth(1) + 4 times 3, two of the smallest numbers */
}

static void test_average_backward_of_blocks(void **state) {
  (void)state;
  const float grads[4] = {8, 16, 24, 32};
  kw_tensor_ref grad = TENSOR(KW_F32, grads, 1, 1, 2, 2), self = TENSOR(KW_F32, counted, 1, 2, 3, 4);
  kw_tensor_ref out = TENSOR(KW_F32, result, 1, 2, 3, 4);
  RUN(kw_reference_f32, "avg_pool3d_backward", &out, test_arg(&grad), test_arg(&self), INTS(2), INTS(1, 1, 2), INTS(0),
      flag(false), flag(true), test_none());
  EXPECT(1, 1, 2, 2, 4, 4, 6, 6, 3, 3, 4, 4, 1, 1, 2, 2, 4, 4, 6, 6, 3, 3, 4, 4);
}

static void test_adaptive_average_backward(void **state) {
  (void)state;
  const float three[3] = {2, 3, 4}, seven[7] = {1, 2, 4, 8, 16, 32, 64};
  kw_tensor_ref self = TENSOR(KW_F32, counted, 1, 1, 5), out = TENSOR(KW_F32, result, 1, 1, 5);
  kw_tensor_ref grad = TENSOR(KW_F32, three, 1, 1, 3);
  RUN(kw_reference_f32, "_adaptive_avg_pool2d_backward", &out, test_arg(&grad), test_arg(&self));
  EXPECT(1, 2, 1, 3, 2);
  grad = TENSOR(KW_F32, seven, 1, 1, 7);
  RUN(kw_reference_f32, "_adaptive_avg_pool2d_backward", &out, test_arg(&grad), test_arg(&self));
  EXPECT(2, 3, 18, 24, 80);
  grad = TENSOR(KW_F32, seven, 1, 0, 1, 1);
  self = TENSOR(KW_F32, counted, 1, 1, 1, 5);
  out = TENSOR(KW_F32, result, 1, 1, 1, 5);
  RUN(kw_reference_f32, "_adaptive_avg_pool3d_backward", &out, test_arg(&grad), test_arg(&self));
  EXPECT(0, 0, 0, 0, 0); /* no windows */
}

static void test_maximum_backward(void **state) {
  (void)state;
  const float grads[8] = {1, 2, 4, 8, 16, 32, 64, 128};
  const int32_t narrow[8] = {4, 4, 0, 5, 1, 1, 1, 1};
  const int64_t wild[4] = {3, 6, -1, 3};
  kw_tensor_ref grad = TENSOR(KW_F32, grads, 2, 2, 2), self = TENSOR(KW_F32, counted, 2, 2, 3);
  kw_tensor_ref out = TENSOR(KW_F32, result, 2, 2, 3), indices = TENSOR(KW_I32, narrow, 2, 2, 2);
  uint32_t error = 0;
  test_error = &error;
  RUN(kw_reference_f32, "adaptive_max_pool2d_backward", &out, test_arg(&grad), test_arg(&self), test_arg(&indices));
  EXPECT(4, 0, 0, 0, 3, 8, 0, 240, 0, 0, 0, 0);
  assert_int_equal(error, 0);
  grad = TENSOR(KW_F32, grads, 1, 1, 2, 2);
  self = TENSOR(KW_F32, counted, 1, 1, 2, 3);
  out = TENSOR(KW_F32, result, 1, 1, 2, 3);
  indices = TENSOR(KW_I64, wild, 1, 1, 2, 2);
  RUN(kw_reference_f32, "max_pool3d_with_indices_backward", &out, test_arg(&grad), test_arg(&self), INTS(1), nothing(),
      INTS(0), INTS(1), flag(false), test_arg(&indices));
  EXPECT(0, 0, 0, 9, 0, 0);
  assert_int_equal(error, TEST_ERROR_CODE + 7);
  test_error = NULL;
  indices.dtype = KW_F64;
  assert_int_equal(
      TRY(kw_reference_f32, "adaptive_max_pool3d_backward", &out, test_arg(&grad), test_arg(&self), test_arg(&indices)),
      KW_ERR_INVALID_ARGUMENT);
}

/* 1 + 2^-11 + 2^-11 is not 1 where the sum is kept wide; in f16 each addition would be lost. */
static void test_maximum_backward_rounds_once(void **state) {
  (void)state;
  const uint16_t grads[3] = {0x3c00, 0x1000, 0x1000};
  const int64_t first[3] = {0, 0, 0};
  uint16_t sum[1];
  kw_tensor_ref grad = TENSOR(KW_F16, grads, 1, 1, 3), self = TENSOR(KW_F16, grads, 1, 1, 1);
  kw_tensor_ref out = TENSOR(KW_F16, sum, 1, 1, 1), indices = TENSOR(KW_I64, first, 1, 1, 3);
  RUN(kw_reference_f32, "adaptive_max_pool2d_backward", &out, test_arg(&grad), test_arg(&self), test_arg(&indices));
  assert_int_equal(sum[0], 0x3c01);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_average),
      cmocka_unit_test(test_average_at_the_edges),
      cmocka_unit_test(test_average_of_other_ranks),
      cmocka_unit_test(test_adaptive_average),
      cmocka_unit_test(test_magnitude),
      cmocka_unit_test(test_maximum),
      cmocka_unit_test(test_maximum_of_special_values),
      cmocka_unit_test(test_maximum_of_blocks),
      cmocka_unit_test(test_maximum_of_integers),
      cmocka_unit_test(test_average_backward),
      cmocka_unit_test(test_average_backward_of_blocks),
      cmocka_unit_test(test_adaptive_average_backward),
      cmocka_unit_test(test_maximum_backward),
      cmocka_unit_test(test_maximum_backward_rounds_once),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
