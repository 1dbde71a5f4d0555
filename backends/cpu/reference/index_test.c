/* SPDX-License-Identifier: Apache-2.0
 *
 * Tests of the kernels that join, choose and place elements by index.
 */
#include "test_call.h"

#include <stdio.h>

static const test_table tables[] = {kw_reference_f32, kw_reference_f64, kw_reference_f128};

#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof(array)[0]))
#define DIM(n) ((kw_value){.tag = KW_TAG_INT, .u.i = (n)})
#define FLAG(yes) ((kw_value){.tag = KW_TAG_BOOL, .u.b = (yes)})
#define LIST(...)                                        \
  test_list((const kw_tensor_ref *const[]){__VA_ARGS__}, \
            sizeof((const kw_tensor_ref *const[]){__VA_ARGS__}) / sizeof(const kw_tensor_ref *))
#define FLOATS(...) ((float[]){__VA_ARGS__})
#define INDICES(...) ((int64_t[]){__VA_ARGS__})

/* 2 x 3 x 4 elements, element i is i. */
static float numbers[24];
static kw_tensor_ref block(void) {
  for (int i = 0; i < 24; i++) numbers[i] = (float)i;
  return TENSOR(KW_F32, numbers, 2, 3, 4);
}

static float result[64];
static void expect_floats(const float *expected, size_t count, int line) {
  for (size_t i = 0; i < count; i++) {
    if (result[i] != expected[i]) {
      fail_msg("line %d: element %zu is %g, not %g", line, i, (double)result[i], (double)expected[i]);
    }
  }
}
#define EXPECT(...) expect_floats(FLOATS(__VA_ARGS__), sizeof FLOATS(__VA_ARGS__) / sizeof(float), __LINE__)

/* Element 0, 1, .. of a dense tensor as seen in another order of dimensions, or with other sizes. */
static kw_tensor_ref seen(kw_tensor_ref tensor, uint32_t rank, const int64_t *shape, const int64_t *strides) {
  tensor.rank = (uint8_t)rank;
  tensor.numel = 1;
  for (uint32_t d = 0; d < rank; d++) {
    tensor.shape[d] = shape[d];
    tensor.strides[d] = strides[d];
    tensor.numel *= shape[d];
  }
  return tensor;
}

/* ---- Joining --------------------------------------------------------------------------------------------------- */

static void test_cat(void **state) {
  (void)state;
  float a[] = {1, 2, 3, 4};
  int32_t b[] = {5, 6};
  kw_tensor_ref x = TENSOR(KW_F32, a, 2, 2), y = TENSOR(KW_I32, b, 2, 1), z = TENSOR(KW_F32, a, 2, 0);
  kw_tensor_ref legacy = TENSOR(KW_F64, a, 0), row = TENSOR(KW_I32, b, 1, 2);
  kw_tensor_ref out = TENSOR(KW_F32, result, 2, 3);
  RUN(kw_reference_f32, "cat", &out, LIST(&x, &z, &y, &legacy), DIM(-1));
  EXPECT(1, 2, 5, 3, 4, 6);
  out = TENSOR(KW_F32, result, 3, 2);
  RUN(kw_reference_f32, "cat", &out, LIST(&legacy, &row, &x), DIM(0));
  EXPECT(5, 6, 1, 2, 3, 4);
  /* a transposed output, and a transposed and a repeated entry */
  kw_tensor_ref columns = seen(out, 2, (int64_t[]){3, 2}, (int64_t[]){1, 3});
  kw_tensor_ref turned = seen(x, 2, (int64_t[]){2, 2}, (int64_t[]){1, 2});
  kw_tensor_ref same = seen(row, 2, (int64_t[]){1, 2}, (int64_t[]){0, 0});
  RUN(kw_reference_f64, "cat", &columns, LIST(&turned, &same), DIM(-2));
  EXPECT(1, 2, 5, 3, 4, 5);
  columns.dtype = 0x7ff0;
  assert_int_equal(TRY(kw_reference_f32, "cat", &columns, LIST(&turned), DIM(0)), KW_ERR_INVALID_ARGUMENT);
}

/* ---- Choosing -------------------------------------------------------------------------------------------------- */

static void test_embedding(void **state) {
  (void)state;
  float rows[] = {0, 1, 10, 11, 20, 21};
  int32_t which[] = {2, 0, 2, 1};
  kw_tensor_ref weight = TENSOR(KW_F32, rows, 3, 2), out = TENSOR(KW_F32, result, 2, 2, 2);
  kw_tensor_ref indices = TENSOR(KW_I32, which, 2, 2);
  RUN(kw_reference_f32, "embedding", &out, test_arg(&weight), test_arg(&indices), DIM(2), FLAG(true), FLAG(false));
  EXPECT(20, 21, 0, 1, 20, 21, 10, 11);
  kw_tensor_ref turned = seen(indices, 2, (int64_t[]){2, 2}, (int64_t[]){1, 2});
  kw_tensor_ref wide = seen(weight, 2, (int64_t[]){3, 2}, (int64_t[]){1, 3}); /* {0, 11}, {1, 20}, {10, 21} */
  RUN(kw_reference_f32, "embedding", &out, test_arg(&wide), test_arg(&turned));
  EXPECT(10, 21, 10, 21, 0, 11, 1, 20);
  kw_tensor_ref one = RANK0(KW_I32, &which[3]), row = TENSOR(KW_F32, result, 2);
  RUN(kw_reference_f32, "embedding", &row, test_arg(&weight), test_arg(&one));
  EXPECT(10, 11);
  one.dtype = KW_I16;
  assert_int_equal(TRY(kw_reference_f32, "embedding", &row, test_arg(&weight), test_arg(&one)),
                   KW_ERR_INVALID_ARGUMENT);
}

static void test_index_select(void **state) {
  (void)state;
  kw_tensor_ref self = block(), index = TENSOR(KW_I64, INDICES(3, 0, 3), 3);
  kw_tensor_ref out = TENSOR(KW_F32, result, 2, 3, 3);
  RUN(kw_reference_f32, "index_select", &out, test_arg(&self), DIM(-1), test_arg(&index));
  EXPECT(3, 0, 3, 7, 4, 7, 11, 8, 11, 15, 12, 15, 19, 16, 19, 23, 20, 23);
  kw_tensor_ref every = seen(TENSOR(KW_I64, INDICES(1, 9, 0, 9), 4), 1, (int64_t[]){2}, (int64_t[]){2});
  out = TENSOR(KW_F32, result, 2, 2, 4);
  RUN(kw_reference_f32, "index_select", &out, test_arg(&self), DIM(1), test_arg(&every));
  EXPECT(4, 5, 6, 7, 0, 1, 2, 3, 16, 17, 18, 19, 12, 13, 14, 15);
  /* rank 0 on either side */
  kw_tensor_ref one = RANK0(KW_I64, INDICES(2)), zero = TENSOR(KW_I64, INDICES(0), 1);
  kw_tensor_ref number = RANK0(KW_F32, &numbers[7]), single = RANK0(KW_F32, result);
  out = TENSOR(KW_F32, result, 2, 1, 4);
  RUN(kw_reference_f32, "index_select", &out, test_arg(&self), DIM(1), test_arg(&one));
  EXPECT(8, 9, 10, 11, 20, 21, 22, 23);
  RUN(kw_reference_f32, "index_select", &single, test_arg(&number), DIM(-1), test_arg(&zero));
  EXPECT(7);
}

static void test_gather(void **state) {
  (void)state;
  kw_tensor_ref self = block(), index = TENSOR(KW_I64, INDICES(2, 0, 1, 1, 0, 2), 1, 2, 3);
  kw_tensor_ref out = TENSOR(KW_F32, result, 1, 2, 3);
  RUN(kw_reference_f32, "gather", &out, test_arg(&self), DIM(1), test_arg(&index), FLAG(false));
  EXPECT(8, 1, 6, 4, 1, 10);
  RUN(kw_reference_f32, "gather", &out, test_arg(&self), DIM(-1), test_arg(&index));
  EXPECT(2, 0, 1, 5, 4, 6);
  /* more indices than elements along the line, and both transposed */
  kw_tensor_ref matrix = TENSOR(KW_F32, numbers, 2, 3);
  kw_tensor_ref turned = seen(matrix, 2, (int64_t[]){3, 2}, (int64_t[]){1, 3});
  kw_tensor_ref many = seen(TENSOR(KW_I64, INDICES(0, 2, 1, 1, 2, 0, 0, 1), 8), 2, (int64_t[]){4, 2},
                            (int64_t[]){1, 4}); /* {0,2}, {2,0}, {1,0}, {1,1} */
  out = TENSOR(KW_F32, result, 4, 2);
  RUN(kw_reference_f32, "gather", &out, test_arg(&turned), DIM(0), test_arg(&many));
  EXPECT(0, 5, 2, 3, 1, 3, 1, 4);
  /* rank 0 stands for one element */
  kw_tensor_ref number = RANK0(KW_F32, &numbers[7]), zeros = TENSOR(KW_I64, INDICES(0, 0), 2);
  kw_tensor_ref one = RANK0(KW_I64, INDICES(1)), single = RANK0(KW_F32, result);
  out = TENSOR(KW_F32, result, 2);
  RUN(kw_reference_f32, "gather", &out, test_arg(&number), DIM(0), test_arg(&zeros));
  EXPECT(7, 7);
  matrix = TENSOR(KW_F32, numbers, 6);
  RUN(kw_reference_f32, "gather", &single, test_arg(&matrix), DIM(-1), test_arg(&one));
  EXPECT(1);
  single.dtype = KW_F64;
  assert_int_equal(TRY(kw_reference_f32, "gather", &single, test_arg(&matrix), DIM(0), test_arg(&one)),
                   KW_ERR_INVALID_ARGUMENT);
}

static void test_index(void **state) {
  (void)state;
  kw_tensor_ref self = block(), a = TENSOR(KW_I64, INDICES(1, -2), 2), out = TENSOR(KW_F32, result, 2, 3);
  int32_t narrow[] = {-1, 0, 2};
  kw_tensor_ref b = TENSOR(KW_I32, narrow, 3, 1);
  /* apart: first; self[[1, 0], :, [1, -2]] */
  RUN(kw_reference_f32, "index.Tensor", &out, test_arg(&self), LIST(&a, NULL, &a));
  EXPECT(13, 17, 21, 2, 6, 10);
  /* side by side: in place; self[:, [[-1], [0], [2]], [1, -2]] */
  out = TENSOR(KW_F32, result, 2, 3, 2);
  RUN(kw_reference_f32, "index.Tensor", &out, test_arg(&self), LIST(NULL, &b, &a));
  EXPECT(9, 10, 1, 2, 9, 10, 21, 22, 13, 14, 21, 22);
  /* fewer than there are dimensions */
  out = TENSOR(KW_F32, result, 2, 2, 4);
  RUN(kw_reference_f32, "index.Tensor", &out, test_arg(&self), LIST(NULL, &a));
  EXPECT(4, 5, 6, 7, 4, 5, 6, 7, 16, 17, 18, 19, 16, 17, 18, 19);
  /* rank 0 takes its dimension away */
  kw_tensor_ref one = RANK0(KW_I64, INDICES(-1));
  out = TENSOR(KW_F32, result, 2, 4);
  RUN(kw_reference_f32, "index.Tensor", &out, test_arg(&self), LIST(NULL, &one, NULL));
  EXPECT(8, 9, 10, 11, 20, 21, 22, 23);
  /* all strided: the table transposed, the index repeated, the output transposed */
  kw_tensor_ref turned = seen(self, 2, (int64_t[]){4, 3}, (int64_t[]){1, 4});
  kw_tensor_ref same = seen(a, 1, (int64_t[]){2}, (int64_t[]){0});
  kw_tensor_ref columns = seen(out, 2, (int64_t[]){4, 2}, (int64_t[]){1, 4});
  RUN(kw_reference_f32, "index.Tensor", &columns, test_arg(&turned), LIST(NULL, &same));
  EXPECT(4, 5, 6, 7, 4, 5, 6, 7);
  a.dtype = KW_BOOL;
  assert_int_equal(TRY(kw_reference_f32, "index.Tensor", &out, test_arg(&self), LIST(NULL, &a)),
                   KW_ERR_INVALID_ARGUMENT);
}

/* Any bits are moved as they are. */
static void test_bits_are_kept(void **state) {
  (void)state;
  uint32_t bits[] = {0x7f800001, 0xffc12345, 0x80000000}, got[3];
  kw_tensor_ref self = TENSOR(KW_F32, bits, 3), out = TENSOR(KW_F32, got, 3);
  kw_tensor_ref index = TENSOR(KW_I64, INDICES(2, 1, 0), 3);
  for (size_t t = 0; t < COUNT(tables); t++) {
    RUN(tables[t], "gather", &out, test_arg(&self), DIM(0), test_arg(&index));
    assert_true(got[0] == bits[2] && got[1] == bits[1] && got[2] == bits[0]);
    RUN(tables[t], "scatter.src", &out, test_arg(&self), DIM(0), test_arg(&index), test_arg(&self));
    assert_true(got[0] == bits[2] && got[1] == bits[1] && got[2] == bits[0]);
  }
}

/* ---- Placing --------------------------------------------------------------------------------------------------- */

static void test_scatter(void **state) {
  (void)state;
  float zeros[6] = {0}, values[] = {1, 2, 3, 4, 5, 6};
  kw_tensor_ref self = TENSOR(KW_F32, zeros, 2, 3), src = TENSOR(KW_F32, values, 3, 2);
  kw_tensor_ref index = TENSOR(KW_I64, INDICES(2, 0), 2, 1), out = TENSOR(KW_F32, result, 2, 3);
  RUN(kw_reference_f32, "scatter.src", &out, test_arg(&self), DIM(1), test_arg(&index), test_arg(&src));
  EXPECT(0, 0, 1, 3, 0, 0);
  kw_tensor_ref turned = seen(src, 2, (int64_t[]){2, 3}, (int64_t[]){1, 2});
  kw_tensor_ref rows = TENSOR(KW_I64, INDICES(1, 0, 1), 1, 3);
  kw_tensor_ref columns = seen(out, 2, (int64_t[]){2, 3}, (int64_t[]){1, 2});
  RUN(kw_reference_f32, "scatter.src", &columns, test_arg(&self), DIM(-2), test_arg(&rows), test_arg(&turned));
  EXPECT(0, 1, 3, 0, 0, 5);
  /* one value; it is converted as fill_ does */
  uint8_t bytes[3] = {7, 7, 7}, got[3];
  kw_tensor_ref narrow = TENSOR(KW_U8, bytes, 3), to = TENSOR(KW_U8, got, 3), at = TENSOR(KW_I64, INDICES(2, 0), 2);
  RUN(kw_reference_f32, "scatter.value", &to, test_arg(&narrow), DIM(0), test_arg(&at), test_float(300.5));
  assert_true(got[0] == 255 && got[1] == 7 && got[2] == 255);
  /* rank 0 among rank 1 */
  kw_tensor_ref number = RANK0(KW_F32, &values[5]), single = RANK0(KW_F32, result),
                five = TENSOR(KW_F32, &values[4], 1);
  kw_tensor_ref zero = TENSOR(KW_I64, INDICES(0), 1), zero0 = RANK0(KW_I64, INDICES(0));
  RUN(kw_reference_f32, "scatter.src", &single, test_arg(&number), DIM(0), test_arg(&zero), test_arg(&five));
  EXPECT(5);
  kw_tensor_ref three = TENSOR(KW_F32, values, 3), to3 = TENSOR(KW_F32, result, 3);
  RUN(kw_reference_f32, "scatter.src", &to3, test_arg(&three), DIM(0), test_arg(&zero0), test_arg(&src));
  EXPECT(1, 2, 3);
  RUN(kw_reference_f32, "scatter.src", &to3, test_arg(&three), DIM(0), test_arg(&zero), test_arg(&number));
  EXPECT(6, 2, 3);
  /* no indices */
  kw_tensor_ref nothing = TENSOR(KW_I64, INDICES(0), 0, 2);
  RUN(kw_reference_f32, "scatter.src", &to3, test_arg(&three), DIM(0), test_arg(&nothing), test_arg(&src));
  EXPECT(1, 2, 3);
  src.dtype = KW_I32;
  assert_int_equal(
      TRY(kw_reference_f32, "scatter.src", &out, test_arg(&self), DIM(1), test_arg(&index), test_arg(&src)),
      KW_ERR_INVALID_ARGUMENT);
  index.dtype = KW_F64;
  assert_int_equal(TRY(kw_reference_f32, "scatter.value", &out, test_arg(&self), DIM(1), test_arg(&index), test_int(1)),
                   KW_ERR_INVALID_ARGUMENT);
  out.dtype = KW_F64;
  assert_int_equal(TRY(kw_reference_f32, "scatter.value", &out, test_arg(&self), DIM(1), test_arg(&rows), test_int(1)),
                   KW_ERR_INVALID_ARGUMENT);
}

static void test_index_put(void **state) {
  (void)state;
  float zeros[6] = {0}, values[] = {1, 2, 3, 4};
  kw_tensor_ref self = TENSOR(KW_F32, zeros, 2, 3), out = TENSOR(KW_F32, result, 2, 3);
  kw_tensor_ref a = TENSOR(KW_I64, INDICES(-1, 0), 2), b = TENSOR(KW_I64, INDICES(2, 1), 2, 1);
  kw_tensor_ref square = TENSOR(KW_F32, values, 2, 2), pair = TENSOR(KW_F32, values, 2), one = RANK0(KW_F32, values);
  RUN(kw_reference_f32, "index_put", &out, test_arg(&self), LIST(&a, &b), test_arg(&square), FLAG(false));
  EXPECT(0, 4, 2, 0, 3, 1);
  RUN(kw_reference_f32, "index_put", &out, test_arg(&self), LIST(NULL, &a), test_arg(&pair), FLAG(false));
  EXPECT(2, 0, 1, 2, 0, 1);
  RUN(kw_reference_f32, "index_put", &out, test_arg(&self), LIST(&a), test_arg(&one), FLAG(false));
  EXPECT(1, 1, 1, 1, 1, 1);
  pair.dtype = KW_I32;
  assert_int_equal(TRY(kw_reference_f32, "index_put", &out, test_arg(&self), LIST(&a), test_arg(&pair), FLAG(false)),
                   KW_ERR_INVALID_ARGUMENT);
  assert_int_equal(TRY(kw_reference_f32, "index_put", &out, test_arg(&self), LIST(&a), test_arg(&pair), FLAG(true)),
                   KW_ERR_INVALID_ARGUMENT);
  a.dtype = KW_U8;
  assert_int_equal(TRY(kw_reference_f32, "index_put", &out, test_arg(&self), LIST(&a), test_arg(&one), FLAG(false)),
                   KW_ERR_INVALID_ARGUMENT);
  assert_int_equal(TRY(kw_reference_f32, "index_put", &out, test_arg(&self), LIST(&a), test_arg(&one), FLAG(true)),
                   KW_ERR_INVALID_ARGUMENT);
}

/* Of several values for one place the last stays, or the first where that is asked for. */
static void test_either_writer(void **state) {
  (void)state;
  float zeros[4] = {0}, values[] = {1, 2, 3, 4, 5, 6};
  kw_tensor_ref self = TENSOR(KW_F32, zeros, 2, 2), src = TENSOR(KW_F32, values, 2, 3);
  kw_tensor_ref index = TENSOR(KW_I64, INDICES(0, 1, 0, 1, 0, 1), 2, 3), out = TENSOR(KW_F32, result, 2, 2);
  kw_tensor_ref line = TENSOR(KW_F32, zeros, 2), places = TENSOR(KW_I64, INDICES(1, -1, 0, -2, 1, 0), 6);
  kw_tensor_ref all = TENSOR(KW_F32, values, 6), two = TENSOR(KW_F32, result, 2);
  kw_tensor_ref none = TENSOR(KW_I64, INDICES(0), 0);
  RUN(kw_reference_f32, "scatter.src", &out, test_arg(&self), DIM(1), test_arg(&index), test_arg(&src));
  EXPECT(3, 2, 5, 6);
  RUN(kw_reference_f32, "index_put", &two, test_arg(&line), LIST(&places), test_arg(&all), FLAG(false));
  EXPECT(6, 5);
  test_user = (void *)(uintptr_t)kw_reference_first_wins;
  RUN(kw_reference_f32, "scatter.src", &out, test_arg(&self), DIM(1), test_arg(&index), test_arg(&src));
  EXPECT(1, 2, 5, 4);
  RUN(kw_reference_f32, "index_put", &two, test_arg(&line), LIST(&places), test_arg(&all), FLAG(false));
  EXPECT(3, 1);
  RUN(kw_reference_f32, "index_put", &two, test_arg(&line), LIST(&none), test_arg(&line), FLAG(false));
  EXPECT(0, 0);
  test_user = NULL;
}

/* ---- Sums ------------------------------------------------------------------------------------------------------ */

static void test_accumulate(void **state) {
  (void)state;
  float start[] = {10, 20, -0.0f}, values[] = {1, 2, 4, 8};
  kw_tensor_ref self = TENSOR(KW_F32, start, 3), by = TENSOR(KW_F32, values, 4), out = TENSOR(KW_F32, result, 3);
  kw_tensor_ref index = TENSOR(KW_I64, INDICES(1, -2, 0, 1), 4);
  RUN(kw_reference_f32, "index_put", &out, test_arg(&self), LIST(&index), test_arg(&by), FLAG(true));
  EXPECT(14, 31, 0);
  assert_true(__builtin_signbit(result[2])); /* nothing is added there */
  /* a matrix of slots, a transposed output, one value for all */
  kw_tensor_ref zeros = TENSOR(KW_F32, ((float[6]){0}), 2, 3), one = RANK0(KW_F32, values);
  kw_tensor_ref columns = seen(TENSOR(KW_F32, result, 6), 2, (int64_t[]){2, 3}, (int64_t[]){1, 2});
  kw_tensor_ref pair = TENSOR(KW_I64, INDICES(2, 2, 0), 3);
  RUN(kw_reference_f32, "index_put", &columns, test_arg(&zeros), LIST(NULL, &pair), test_arg(&one), FLAG(true));
  EXPECT(1, 1, 0, 0, 2, 2);
}

/* A narrow float is rounded once: 2048 + 1 + 1 + 1 in f16 is 2052 (2051 rounds up to even), not 2048. */
static void test_accumulate_rounds_once(void **state) {
  (void)state;
  uint16_t self16[1] = {0x6800}, ones16[3] = {0x3c00, 0x3c00, 0x3c00}, got16 = 0;
  double self64[1] = {1}, tiny[2] = {0x1p-53, 0x1p-53}, got64 = 0;
  kw_tensor_ref index = TENSOR(KW_I64, INDICES(0, 0, 0), 3), twice = TENSOR(KW_I64, INDICES(0, 0), 2);
  kw_tensor_ref half = TENSOR(KW_F16, self16, 1), ones = TENSOR(KW_F16, ones16, 3), to16 = TENSOR(KW_F16, &got16, 1);
  for (size_t t = 0; t < COUNT(tables); t++) {
    RUN(tables[t], "index_put", &to16, test_arg(&half), LIST(&index), test_arg(&ones), FLAG(true));
    assert_int_equal(got16, 0x6802);
  }
  kw_tensor_ref self = TENSOR(KW_F64, self64, 1), by = TENSOR(KW_F64, tiny, 2), out = TENSOR(KW_F64, &got64, 1);
  RUN(kw_reference_f64, "index_put", &out, test_arg(&self), LIST(&twice), test_arg(&by), FLAG(true));
  assert_true(got64 == 1);
  RUN(kw_reference_f128, "index_put", &out, test_arg(&self), LIST(&twice), test_arg(&by), FLAG(true));
  assert_true(got64 == 1 + 0x1p-52);
  kw_wide wide;
  kw_tensor_ref exact = TENSOR(KW_DTYPE_WIDE, &wide, 1);
  twice.shape[0] = twice.numel = 1;
  RUN(kw_reference_f128, "index_put", &exact, test_arg(&self), LIST(&twice), test_arg(&by), FLAG(true));
  assert_true(wide.hi == 1 && wide.lo == 0x1p-53);
}

static void test_accumulate_integers(void **state) {
  (void)state;
  int64_t big[1] = {INT64_MAX}, more[2] = {2, 3}, got = 0;
  uint8_t small[1] = {250}, ten[2] = {10, 10}, byte = 0, yes[2] = {1, 1}, no[1] = {0}, truth = 9;
  kw_tensor_ref index = TENSOR(KW_I64, INDICES(0, 0), 2);
  for (size_t t = 0; t < COUNT(tables); t++) {
    kw_tensor_ref self = TENSOR(KW_I64, big, 1), by = TENSOR(KW_I64, more, 2), out = TENSOR(KW_I64, &got, 1);
    RUN(tables[t], "index_put", &out, test_arg(&self), LIST(&index), test_arg(&by), FLAG(true));
    assert_true(got == INT64_MIN + 4);
    self = TENSOR(KW_U8, small, 1), by = TENSOR(KW_U8, ten, 2), out = TENSOR(KW_U8, &byte, 1);
    RUN(tables[t], "index_put", &out, test_arg(&self), LIST(&index), test_arg(&by), FLAG(true));
    assert_int_equal(byte, 14);
    self = TENSOR(KW_BOOL, no, 1), by = TENSOR(KW_BOOL, yes, 2), out = TENSOR(KW_BOOL, &truth, 1);
    RUN(tables[t], "index_put", &out, test_arg(&self), LIST(&index), test_arg(&by), FLAG(true));
    assert_int_equal(truth, 1);
  }
  kw_tensor_ref complex = TENSOR(KW_C64, big, 1), out = TENSOR(KW_C64, &got, 1);
  assert_int_equal(
      TRY(kw_reference_f32, "index_put", &out, test_arg(&complex), LIST(&index), test_arg(&complex), FLAG(true)),
      KW_ERR_INVALID_ARGUMENT);
}

/* ---- Indices out of range -------------------------------------------------------------------------------------- */

static void expect_error(uint32_t *word, uint32_t arg, int line) {
  if (*word != TEST_ERROR_CODE + arg) fail_msg("line %d: the error word is %#x", line, *word);
  *word = 0;
}
#define EXPECT_ERROR(arg) expect_error(&word, arg, __LINE__)

static void test_reads_out_of_range(void **state) {
  (void)state;
  uint32_t word = 0;
  test_error = &word;
  kw_tensor_ref self = block(), matrix = TENSOR(KW_F32, numbers, 4, 2), out = TENSOR(KW_F32, result, 4);
  kw_tensor_ref line = TENSOR(KW_F32, numbers, 3), index = TENSOR(KW_I64, INDICES(2, 3, -1, 0), 4);
  memset(result, 0, sizeof result);
  RUN(kw_reference_f32, "gather", &out, test_arg(&line), DIM(0), test_arg(&index));
  EXPECT(2, 0, 0, 0);
  EXPECT_ERROR(2);
  RUN(kw_reference_f32, "index_select", &out, test_arg(&line), DIM(0), test_arg(&index));
  EXPECT_ERROR(2);
  kw_tensor_ref some = TENSOR(KW_I64, INDICES(0, -1), 2), rows = TENSOR(KW_F32, result, 2, 2);
  RUN(kw_reference_f32, "embedding", &rows, test_arg(&matrix), test_arg(&some));
  EXPECT_ERROR(1);
  /* from the end where that is allowed, and no further */
  kw_tensor_ref ends = TENSOR(KW_I64, INDICES(-3, 2), 2), two = TENSOR(KW_F32, result, 2);
  RUN(kw_reference_f32, "index.Tensor", &two, test_arg(&line), LIST(&ends));
  EXPECT(0, 2);
  assert_int_equal(word, 0);
  ends = TENSOR(KW_I64, INDICES(-4, 2), 2);
  RUN(kw_reference_f32, "index.Tensor", &two, test_arg(&line), LIST(&ends));
  EXPECT_ERROR(1);
  ends = TENSOR(KW_I64, INDICES(0, INT64_MIN), 2);
  RUN(kw_reference_f32, "index.Tensor", &two, test_arg(&line), LIST(&ends));
  EXPECT_ERROR(1);
  /* each index has its own dimension */
  kw_tensor_ref three = TENSOR(KW_I64, INDICES(3), 1), one = TENSOR(KW_I64, INDICES(1), 1);
  kw_tensor_ref single = TENSOR(KW_F32, result, 1);
  RUN(kw_reference_f32, "index.Tensor", &single, test_arg(&self), LIST(&one, &one, &three));
  EXPECT(19);
  assert_int_equal(word, 0);
  RUN(kw_reference_f32, "index.Tensor", &single, test_arg(&self), LIST(&one, &three, &one));
  EXPECT_ERROR(1);
  /* the first error wins; without a word there is nothing to store to */
  word = 5;
  RUN(kw_reference_f32, "gather", &out, test_arg(&line), DIM(0), test_arg(&index));
  assert_int_equal(word, 5);
  test_error = NULL;
  RUN(kw_reference_f32, "gather", &out, test_arg(&line), DIM(0), test_arg(&index));
}

static void test_writes_out_of_range(void **state) {
  (void)state;
  uint32_t word = 0;
  test_error = &word;
  float zeros[3] = {0}, values[] = {1, 2, 3, 4};
  kw_tensor_ref self = TENSOR(KW_F32, zeros, 3), src = TENSOR(KW_F32, values, 4), out = TENSOR(KW_F32, result, 3);
  kw_tensor_ref index = TENSOR(KW_I64, INDICES(2, 3, -1, 0), 4), far = TENSOR(KW_I64, INDICES(2, 3, -4, 0), 4);
  result[3] = 99;
  RUN(kw_reference_f32, "scatter.src", &out, test_arg(&self), DIM(0), test_arg(&index), test_arg(&src));
  EXPECT(4, 0, 1, 99);
  EXPECT_ERROR(2);
  RUN(kw_reference_f32, "scatter.value", &out, test_arg(&self), DIM(0), test_arg(&index), test_int(7));
  EXPECT(7, 0, 7, 99);
  EXPECT_ERROR(2);
  for (int accumulate = 0; accumulate <= 1; accumulate++) {
    RUN(kw_reference_f32, "index_put", &out, test_arg(&self), LIST(&far), test_arg(&src), FLAG(accumulate));
    EXPECT(4, 0, 1, 99);
    EXPECT_ERROR(1);
  }
  test_error = NULL;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_cat),
      cmocka_unit_test(test_embedding),
      cmocka_unit_test(test_index_select),
      cmocka_unit_test(test_gather),
      cmocka_unit_test(test_index),
      cmocka_unit_test(test_bits_are_kept),
      cmocka_unit_test(test_scatter),
      cmocka_unit_test(test_index_put),
      cmocka_unit_test(test_either_writer),
      cmocka_unit_test(test_accumulate),
      cmocka_unit_test(test_accumulate_rounds_once),
      cmocka_unit_test(test_accumulate_integers),
      cmocka_unit_test(test_reads_out_of_range),
      cmocka_unit_test(test_writes_out_of_range),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
