/* SPDX-License-Identifier: Apache-2.0
 *
 * Tests of the kernels that move, choose, add up, measure, draw and sort, bit by bit against the reference's, in pieces
 * of several sizes: that says that no result depends on how many threads there are.
 */
#include "test_fast.h"

#include "number.h"
#include "test_call.h"

#include <math.h>
#include <stdbool.h>

#define MOST 4096 /* elements of a tensor */

static char numbers[3][16 * MOST]; /* arguments */
static int64_t indices[2][MOST];
static int32_t short_indices[MOST];

static uint32_t draw(void) {
  static uint32_t state = 2026;
  state = state * 1664525u + 1013904223u;
  return state >> 8;
}

/* Whole numbers, so that sums are exact but for where they are narrow, NaN of both signs and both zeros. */
static void fill(kw_dtype dtype, char *data) {
  static const double rare[] = {0, -0.0, (double)NAN, -(double)NAN, (double)INFINITY, -(double)INFINITY};
  for (int64_t i = 0; i < MOST; i++) {
    char *at = data + i * (int64_t)kw_number_size(dtype);
    kw_number_store(dtype, at, (double)(draw() % 301) - 150);
    if (draw() % 16 == 0 && kw_number_is_float(dtype)) kw_number_store(dtype, at, rare[draw() % 6]);
  }
}

static void fill_indices(uint32_t which, int64_t size, bool some_are_wrong) {
  for (int64_t i = 0; i < MOST; i++) {
    indices[which][i] = draw() % (uint64_t)size;
    if (some_are_wrong && draw() % 50 == 0) indices[which][i] = draw() % 2 ? size : -size - 1;
    if (some_are_wrong && draw() % 8 == 0) indices[which][i] -= size; /* from the end, for those ops that have that */
    short_indices[i] = (int32_t)indices[which][i];
  }
}

static kw_value ints(const int64_t *list, uint32_t count) {
  return (kw_value){.tag = KW_TAG_INT_LIST, .count = count, .u.ints = list};
}
#define INTS(...) ints((const int64_t[]){__VA_ARGS__}, sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t))
#define INT(number) ((kw_value){.tag = KW_TAG_INT, .u.i = number})
#define FLOAT(number) ((kw_value){.tag = KW_TAG_FLOAT, .u.f = number})
#define FLAG(value) ((kw_value){.tag = KW_TAG_BOOL, .u.b = value})

/* The same with gaps, so that no dimension is dense. */
static kw_tensor_ref apart(kw_tensor_ref tensor) {
  for (uint32_t d = 0; d < tensor.rank; d++) tensor.strides[d] *= 2;
  return tensor;
}

static kw_status one_thread(void *context, uint32_t *out_count) {
  (void)context;
  *out_count = 1;
  return KW_OK;
}

/* Runs an op with results of these shapes and compares. In place: argument 0 is result 0. */
static void check(const char *op, const kw_tensor_ref *outs, uint32_t out_count, bool in_place, const kw_value *args,
                  uint32_t arg_count) {
  static char expected[2][16 * MOST], got[2][16 * MOST];
  static const int64_t pieces[] = {1, 7, 100, INT64_C(1) << 40};
  const bool is_wide = outs[0].dtype == KW_F64 || outs[0].dtype == KW_C128;
  for (size_t p = 0; p < sizeof pieces / sizeof *pieces; p++) {
    uint32_t errors[2] = {0, 0};
    kw_tensor_ref results[2][2];
    for (int fast = 0; fast < 2; fast++) {
      char(*const memory)[16 * MOST] = fast ? got : expected;
      const kw_tensor_ref *list[2] = {&results[fast][0], &results[fast][1]};
      kw_value mine[9];
      memset(memory, 'x', sizeof got);
      memcpy(mine, args, arg_count * sizeof *args);
      for (uint32_t k = 0; k < out_count; k++) {
        results[fast][k] = outs[k];
        results[fast][k].mem = memory[k];
      }
      if (in_place) mine[0] = test_arg(list[0]);
      kw_call call = {.struct_size = sizeof call, .arg_count = arg_count, .out_count = out_count, .op = op};
      const kw_call_extra extra = {.struct_size = sizeof extra,
                                   .error_mem = &errors[fast],
                                   .error_code = TEST_ERROR_CODE,
                                   .rng = {.seed = UINT64_C(0x123456789abcdef), .offset = UINT64_MAX - 2}};
      call.args = mine;
      call.outs = list;
      call.extra = &extra;
      if (fast) {
        assert_int_equal(test_fast_call_on(&call, pieces[p], one_thread), KW_OK);
      } else {
        assert_int_equal(test_call(is_wide ? kw_reference_f64 : kw_reference_f32, &call), KW_OK);
      }
    }
    if (errors[0] != errors[1]) fail_msg("%s: error %u, not %u", op, errors[1], errors[0]);
    if (memcmp(expected, got, sizeof got) != 0)
      fail_msg("%s, dtype %d, pieces of %lld", op, outs[0].dtype, (long long)pieces[p]);
  }
}
#define CHECK_2(op, first, second, ...)                                                        \
  check(op, (const kw_tensor_ref[]){first, second}, 2, false, (const kw_value[]){__VA_ARGS__}, \
        sizeof((kw_value[]){__VA_ARGS__}) / sizeof(kw_value))
#define CHECK(op, out, ...)                                                          \
  check(op, (const kw_tensor_ref[]){out}, 1, false, (const kw_value[]){__VA_ARGS__}, \
        sizeof((kw_value[]){__VA_ARGS__}) / sizeof(kw_value))
#define CHECK_IN_PLACE(op, out, ...)                                                \
  check(op, (const kw_tensor_ref[]){out}, 1, true, (const kw_value[]){__VA_ARGS__}, \
        sizeof((kw_value[]){__VA_ARGS__}) / sizeof(kw_value))

/* ---- Placing ----------------------------------------------------------------------------------------------------- */

static void check_placing(kw_dtype dtype) {
  fill(dtype, numbers[0]);
  fill(dtype, numbers[1]);
  const kw_tensor_ref a = TENSOR(dtype, numbers[0], 5, 9, 11), b = TENSOR(dtype, numbers[1], 5, 4, 11);
  const kw_tensor_ref same = TENSOR(dtype, NULL, 5, 9, 11), none = TENSOR(dtype, NULL, 0), spread = apart(a);
  const kw_value self = test_arg(&a), gaps = test_arg(&spread);
  CHECK("cat", TENSOR(dtype, NULL, 5, 22, 11), test_list((const kw_tensor_ref *[]){&a, &none, &b, &spread}, 4),
        INT(-2));
  CHECK("cat", TENSOR(dtype, NULL, 5, 22, 11), test_list((const kw_tensor_ref *[]){&b, &none, &a, &a}, 4), INT(1));
  CHECK("repeat", TENSOR(dtype, NULL, 2, 5, 9, 33), self, INTS(2, 1, 1, 3));
  CHECK("flip", same, self, INTS(0, -1));
  CHECK("flip", apart(same), gaps, INTS(2));
  CHECK("roll", same, gaps, INTS(3, -1000, 4), INTS(1, 2, 1));
  CHECK("roll", same, self, INTS(17), ints(NULL, 0));
  for (int64_t diagonal = -10; diagonal <= 12; diagonal += 2) {
    CHECK("triu", same, self, INT(diagonal));
    CHECK("tril", apart(same), gaps, INT(diagonal));
  }
  CHECK("tril", same, self, INT(INT64_MIN));
  CHECK("triu", same, self, INT(INT64_MAX));
  CHECK("constant_pad_nd", TENSOR(dtype, NULL, 5, 7, 16), gaps, INTS(2, 3, -4, 2), test_float(3));
  CHECK("constant_pad_nd", TENSOR(dtype, NULL, 5, 9, 2), self, INTS(13, -22), test_float(3)); /* nothing is left */
  CHECK("replication_pad2d", TENSOR(dtype, NULL, 5, 12, 14), self, INTS(2, 1, 3, 0));
  CHECK("reflection_pad2d", TENSOR(dtype, NULL, 5, 12, 14), self, INTS(2, 1, 3, 0));
  CHECK("replication_pad1d", TENSOR(dtype, NULL, 5, 9, 4), gaps, INTS(-13, 6)); /* more than there is is cut off */
  CHECK("replication_pad2d", TENSOR(dtype, NULL, 5, 7, 4), self, INTS(6, -13, -11, 9));
  const kw_tensor_ref slice = TENSOR(dtype, numbers[1], 5, 4, 11), row = TENSOR(dtype, numbers[1], 5, 9);
  CHECK("slice_scatter", same, self, test_arg(&slice), INT(1), INT(2), INT(6), INT(1));
  CHECK("slice_scatter", apart(same), gaps, test_arg(&slice), INT(-2), INT(1), test_none(), INT(2));
  CHECK("select_scatter", same, self, test_arg(&row), INT(2), INT(-3));
}

/* More bytes than the caches are said to hold; rows that lie anywhere in memory's lines. */
static void test_large_rows_are_joined(void **state) {
  (void)state;
  enum { ROWS = 3000, LEFT = 700, RIGHT = 37, WIDTH = LEFT + RIGHT };
  int32_t *from = malloc(sizeof *from * ROWS * LEFT), *to = malloc(sizeof *to * ROWS * WIDTH);
  assert_non_null(from);
  assert_non_null(to);
  for (int32_t i = 0; i < ROWS * LEFT; i++) from[i] = i;
  const kw_tensor_ref left = TENSOR(KW_I32, from, ROWS, LEFT), right = TENSOR(KW_I32, from, ROWS, RIGHT);
  const kw_tensor_ref out = TENSOR(KW_I32, to, ROWS, WIDTH);
  const kw_value args[] = {test_list((const kw_tensor_ref *[]){&left, &right}, 2), INT(-1)};
  const kw_tensor_ref *outs[] = {&out};
  const kw_call call = {
      .struct_size = sizeof call, .op = "cat", .arg_count = 2, .args = args, .out_count = 1, .outs = outs};
  assert_int_equal(test_fast_call(&call, 1000), KW_OK);
  for (int32_t i = 0; i < ROWS * WIDTH; i++) {
    const int32_t row = i / WIDTH, column = i % WIDTH;
    assert_int_equal(to[i], column < LEFT ? row * LEFT + column : row * RIGHT + column - LEFT);
  }
  free(from);
  free(to);
}

static void test_placing(void **state) {
  (void)state;
  static const kw_dtype dtypes[] = {KW_I8, KW_BF16, KW_F32, KW_I64, KW_C128};
  for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++) check_placing(dtypes[d]);
}

/* ---- Choosing ---------------------------------------------------------------------------------------------------- */

static void check_choosing(kw_dtype dtype, bool some_are_wrong) {
  fill(dtype, numbers[0]);
  fill(dtype, numbers[1]);
  const kw_tensor_ref table = TENSOR(dtype, numbers[0], 13, 21), spread = apart(table);
  const kw_value self = test_arg(&table), gaps = test_arg(&spread);
  fill_indices(0, 13, some_are_wrong);
  const kw_tensor_ref rows = TENSOR(KW_I64, indices[0], 3, 30), some = TENSOR(KW_I32, short_indices, 40);
  CHECK("embedding", TENSOR(dtype, NULL, 3, 30, 21), self, test_arg(&rows), INT(-1), FLAG(false), FLAG(false));
  CHECK("index_select", TENSOR(dtype, NULL, 40, 21), gaps, INT(0), test_arg(&some));
  const kw_tensor_ref lines = TENSOR(KW_I64, indices[0], 50, 20), values = TENSOR(dtype, numbers[1], 50, 21);
  CHECK("gather", TENSOR(dtype, NULL, 50, 20), self, INT(0), test_arg(&lines), FLAG(false));
  CHECK("scatter.src", TENSOR(dtype, NULL, 13, 21), self, INT(0), test_arg(&lines), test_arg(&values));
  CHECK("scatter.value", apart(TENSOR(dtype, NULL, 13, 21)), gaps, INT(0), test_arg(&lines), test_float(7));
  fill_indices(1, 21, some_are_wrong);
  const kw_tensor_ref columns = TENSOR(KW_I32, short_indices, 33);
  CHECK("index_select", TENSOR(dtype, NULL, 13, 33), self, INT(-1), test_arg(&columns));
  const kw_tensor_ref across = TENSOR(KW_I32, short_indices, 12, 90), wide = TENSOR(dtype, numbers[1], 13, 90);
  CHECK("gather", TENSOR(dtype, NULL, 12, 90), gaps, INT(-1), test_arg(&across), FLAG(false));
  CHECK("scatter.src", TENSOR(dtype, NULL, 13, 21), self, INT(1), test_arg(&across), test_arg(&wide));
  const kw_tensor_ref first = TENSOR(KW_I64, indices[0], 60), second = TENSOR(KW_I64, indices[1], 3, 1);
  const kw_tensor_ref pairs = TENSOR(dtype, numbers[1], 3, 60), blocks = TENSOR(dtype, numbers[1], 60, 21);
  const kw_value both = test_list((const kw_tensor_ref *[]){&first, &second}, 2);
  const kw_value front = test_list((const kw_tensor_ref *[]){&first, NULL}, 2);
  CHECK("index.Tensor", TENSOR(dtype, NULL, 3, 60), gaps, both);
  CHECK("index.Tensor", TENSOR(dtype, NULL, 60, 21), self, front);
  CHECK("index_put", TENSOR(dtype, NULL, 13, 21), self, both, test_arg(&pairs), FLAG(false));
  const kw_tensor_ref many = TENSOR(KW_I64, indices[0], 20, 9);
  kw_tensor_ref turned = TENSOR(dtype, numbers[1], 20, 9, 21); /* the last value still wins in row-major order */
  turned.strides[0] = 21;
  turned.strides[1] = 420;
  const kw_value often = test_list((const kw_tensor_ref *[]){&many, NULL}, 2);
  CHECK("index_put", TENSOR(dtype, NULL, 13, 21), self, often, test_arg(&turned), FLAG(false));
  const kw_tensor_ref line = TENSOR(dtype, numbers[0], 13);
  const kw_value alone = test_list((const kw_tensor_ref *[]){&first}, 1);
  CHECK("index.Tensor", TENSOR(dtype, NULL, 60), test_arg(&line), alone);
  CHECK("index_put", TENSOR(dtype, NULL, 13, 21), gaps, front, test_arg(&blocks), FLAG(false));
}

static void test_choosing(void **state) {
  (void)state;
  static const kw_dtype dtypes[] = {KW_U8, KW_F16, KW_I32, KW_F64, KW_C128};
  for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++) {
    check_choosing(dtypes[d], false);
    check_choosing(dtypes[d], true); /* what stands there stays; so there is no result where nothing was */
  }
}

/* ---- Sums -------------------------------------------------------------------------------------------------------- */

/* By an index each, and by one for a whole row. */
static void check_reductions(const kw_tensor_ref *out, const kw_tensor_ref *self, const kw_tensor_ref *values) {
  static const char *const names[] = {"sum", "mean", "prod", "amax", "amin"};
  const kw_tensor_ref lines = TENSOR(KW_I64, indices[0], 50, 20);
  kw_tensor_ref rows = TENSOR(KW_I32, short_indices, 50, 20);
  rows.strides[0] = 1;
  rows.strides[1] = 0;
  for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
    for (int with_self = 0; with_self < 2; with_self++) {
      CHECK("scatter_reduce.two", *out, test_arg(self), INT(0), test_arg(&lines), test_arg(values),
            test_string(names[k]), FLAG(with_self));
      CHECK("scatter_reduce.two", apart(*out), test_arg(self), INT(0), test_arg(&rows), test_arg(values),
            test_string(names[k]), FLAG(with_self));
    }
  }
}

static void test_sums(void **state) {
  (void)state;
  static const kw_dtype dtypes[] = {KW_I8, KW_I64, KW_F16, KW_BF16, KW_F32, KW_F64};
  for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++) {
    const kw_dtype dtype = dtypes[d];
    for (int k = 0; k < 2; k++) {
      for (int64_t i = 0; i < MOST; i++) {
        char *at = numbers[k] + i * (int64_t)kw_number_size(dtype);
        kw_number_store(dtype, at, kw_number_is_integer(dtype) ? (double)(draw() % 200) : 0.1 * (draw() % 1000) + 0.1);
      }
    }
    fill_indices(0, 13, true);
    const kw_tensor_ref table = TENSOR(dtype, numbers[0], 13, 21), out = TENSOR(dtype, NULL, 13, 21);
    const kw_tensor_ref lines = TENSOR(KW_I64, indices[0], 50, 20), values = TENSOR(dtype, numbers[1], 50, 21);
    const kw_tensor_ref some = TENSOR(KW_I32, short_indices, 50), sixty = TENSOR(KW_I64, indices[0], 50);
    const kw_value self = test_arg(&table), front = test_list((const kw_tensor_ref *[]){&sixty, NULL}, 2);
    CHECK("scatter_add", apart(out), self, INT(0), test_arg(&lines), test_arg(&values));
    CHECK("index_add", out, self, INT(0), test_arg(&some), test_arg(&values), test_int(1));
    CHECK("index_add", out, self, INT(0), test_arg(&some), test_arg(&values), test_float(3));
    CHECK("index_put", out, self, front, test_arg(&values), FLAG(true));
    check_reductions(&out, &table, &values);
    if (kw_number_is_integer(dtype)) continue;
    CHECK("embedding_dense_backward", out, test_arg(&values), test_arg(&sixty), INT(13), INT(4), FLAG(false));
  }
}

/* ---- Columns ----------------------------------------------------------------------------------------------------- */

/* Sums of whole numbers: places side by side, apart, farther apart than an image is wide, and seen by taps that are. */
static void test_columns(void **state) {
  (void)state;
  static const kw_dtype dtypes[] = {KW_F16, KW_BF16, KW_F32, KW_F64};
  for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++) {
    const kw_dtype dtype = dtypes[d];
    for (int64_t i = 0; i < MOST; i++) {
      kw_number_store(dtype, numbers[0] + i * (int64_t)kw_number_size(dtype), draw() % 200 + 1.0);
    }
    const kw_tensor_ref nine = TENSOR(dtype, numbers[0], 2, 18, 99), four = TENSOR(dtype, numbers[0], 3, 8, 20);
    const kw_tensor_ref six = TENSOR(dtype, numbers[0], 12, 24), two = TENSOR(dtype, numbers[0], 1, 4, 2);
    const kw_tensor_ref spread = apart(nine);
    CHECK("col2im", TENSOR(dtype, NULL, 2, 2, 9, 11), test_arg(&nine), INTS(9, 11), INTS(3, 3), INTS(1, 1), INTS(1, 1),
          INTS(1, 1));
    CHECK("col2im", apart(TENSOR(dtype, NULL, 2, 2, 9, 11)), test_arg(&spread), INTS(9, 11), INTS(3, 3), INTS(1),
          INTS(1, 1), INTS(1));
    CHECK("col2im", TENSOR(dtype, NULL, 3, 2, 8, 13), test_arg(&four), INTS(8, 13), INTS(2, 2), INTS(1, 1), INTS(0, 1),
          INTS(2, 3));
    CHECK("col2im", apart(TENSOR(dtype, NULL, 2, 9, 16)), test_arg(&six), INTS(9, 16), INTS(2, 3), INTS(4, 3),
          INTS(1, 2), INTS(2, 2));
    CHECK("col2im", TENSOR(dtype, NULL, 1, 4, 3, 6), test_arg(&two), INTS(3, 6), INTS(1, 1), INTS(1, 1), INTS(0, 4),
          INTS(5, 9));
    /* Strides that no image is as long as, and with them paddings. */
    const kw_tensor_ref image = TENSOR(dtype, numbers[0], 2, 9, 11), taps = TENSOR(dtype, numbers[0], 12, 1);
    const kw_tensor_ref three = TENSOR(dtype, numbers[0], 2, 3);
    const int64_t far = INT64_C(1) << 62;
    CHECK("im2col", TENSOR(dtype, NULL, 12, 1), test_arg(&image), INTS(2, 3), INTS(1, 1), INTS(0, 0), INTS(INT64_MAX));
    CHECK("im2col", TENSOR(dtype, NULL, 12, 1), test_arg(&image), INTS(2, 3), INTS(2, 1), INTS(1, 2),
          INTS(far, INT64_MAX));
    CHECK("im2col", TENSOR(dtype, NULL, 2, 3), test_arg(&image), INTS(1, 1), INTS(1, 1), INTS(0, far - 6),
          INTS(9, far - 5));
    CHECK("col2im", TENSOR(dtype, NULL, 2, 9, 11), test_arg(&taps), INTS(9, 11), INTS(2, 3), INTS(2, 1), INTS(1, 2),
          INTS(far, INT64_MAX));
    CHECK("col2im", TENSOR(dtype, NULL, 2, 9, 11), test_arg(&three), INTS(9, 11), INTS(1, 1), INTS(1, 1),
          INTS(0, far - 6), INTS(9, far - 5));
  }
}

/* ---- Convolutions ------------------------------------------------------------------------------------------------ */

/* Windows of one element: of images whose last dimension has one element, so that no step to a next one counts. */
static void test_convolutions(void **state) {
  (void)state;
  for (int64_t i = 0; i < MOST; i++) kw_number_store(KW_F32, numbers[0] + i * 4, draw() % 20);
  const kw_tensor_ref weight = TENSOR(KW_F32, numbers[0], 6, 5, 1, 1);
  kw_tensor_ref image = TENSOR(KW_F32, numbers[0], 2, 5, 7, 1), out = TENSOR(KW_F32, NULL, 2, 6, 7, 1);
  for (int64_t step = 1; step < 200; step += 99) {
    image.strides[3] = out.strides[3] = step;
    CHECK("convolution", out, test_arg(&image), test_arg(&weight), test_none(), INTS(1, 1), INTS(0, 0), INTS(1, 1),
          FLAG(false), INTS(0, 0), INT(1));
  }
}

/* What oneDNN counts with in 32 bits is left to the reference: 2^32 + 1 would be 1. */
static void test_far_windows(void **state) {
  (void)state;
  const int64_t far = (INT64_C(1) << 32) + 1;
  const kw_tensor_ref image = TENSOR(KW_F32, numbers[0], 1, 8, 5), weight = TENSOR(KW_F32, numbers[1], 16, 8, 3);
  const kw_tensor_ref out = TENSOR(KW_F32, numbers[2], 1, 16, 5), *outs[] = {&out};
  for (int number = 0; number <= 3; number++) { /* stride, padding, dilation; none */
    const kw_value args[] = {test_arg(&image),
                             test_arg(&weight),
                             test_none(),
                             INTS(number == 0 ? far : 1),
                             INTS(number == 1 ? far : 1),
                             INTS(number == 2 ? far : 1),
                             FLAG(false),
                             INTS(0),
                             INT(1)};
    const kw_fast_kernel *kernel = test_fast_kernel("convolution");
    const kw_call call = {.struct_size = sizeof call,
                          .arg_count = 9,
                          .out_count = 1,
                          .op = "convolution",
                          .user = (void *)(uintptr_t)kernel,
                          .args = args,
                          .outs = outs};
    assert_int_equal(kernel->serves(&call), number == 3 ? KW_OK : KW_ERR_NOT_IMPLEMENTED);
  }
}

/* ---- Distances --------------------------------------------------------------------------------------------------- */

/* Whole numbers, whose sums are exact, and more rows than a tile has. */
static void test_distances(void **state) {
  (void)state;
  static const kw_dtype dtypes[] = {KW_F32, KW_F64};
  static const double norms[] = {0, 1, (double)INFINITY};
  for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++) {
    const kw_dtype dtype = dtypes[d];
    for (int64_t i = 0; i < MOST; i++) {
      kw_number_store(dtype, numbers[0] + i * (int64_t)kw_number_size(dtype), draw() % 100);
    }
    const kw_tensor_ref rows = TENSOR(dtype, numbers[0], 90, 45), half = TENSOR(dtype, numbers[0], 45, 45);
    const kw_tensor_ref spread = apart(TENSOR(dtype, numbers[0], 50, 20));
    for (size_t p = 0; p < sizeof norms / sizeof *norms; p++) {
      CHECK("_pdist_forward", TENSOR(dtype, NULL, 4005), test_arg(&rows), FLOAT(norms[p]));
      CHECK("_pdist_forward", apart(TENSOR(dtype, NULL, 1225)), test_arg(&spread), FLOAT(norms[p]));
      CHECK("_cdist_forward", TENSOR(dtype, NULL, 90, 45), test_arg(&rows), test_arg(&half), FLOAT(norms[p]),
            test_none());
    }
  }
}

/* ---- Random numbers ---------------------------------------------------------------------------------------------- */

static void check_random(kw_dtype dtype) {
  const kw_tensor_ref row = TENSOR(dtype, NULL, 3001), cube = apart(TENSOR(dtype, NULL, 3, 5, 7));
  for (int spread = 0; spread < 2; spread++) {
    const kw_tensor_ref out = spread ? cube : row;
    if (dtype != KW_BOOL) CHECK_IN_PLACE("random_.from", out, test_none(), INT(-5), INT(90), test_none());
    if (dtype == KW_I64 || dtype == KW_F64) {
      CHECK_IN_PLACE("random_.from", out, test_none(), INT(INT64_MIN), INT(INT64_MAX), test_none());
      CHECK_IN_PLACE("random_.from", out, test_none(), INT(3), INT(3 + (INT64_C(1) << 32)), test_none());
    }
    CHECK_IN_PLACE("random_.from", out, test_none(), INT(0), test_none(), test_none());
    CHECK_IN_PLACE("bernoulli_.float", out, test_none(), FLOAT(0.3), test_none());
  }
}

static void check_random_floats(kw_dtype dtype) {
  const kw_tensor_ref row = TENSOR(dtype, NULL, 3001), cube = apart(TENSOR(dtype, NULL, 3, 5, 7));
  const kw_tensor_ref input = TENSOR(dtype, numbers[0], 3001);
  for (int64_t i = 0; i < MOST; i++) {
    kw_number_store(dtype, numbers[0] + i * (int64_t)kw_number_size(dtype), (draw() % 1024) * 0x1p-10);
  }
  CHECK_IN_PLACE("uniform_", row, test_none(), FLOAT(-1.5), FLOAT(2.25), test_none());
  CHECK_IN_PLACE("uniform_", cube, test_none(), FLOAT(0), FLOAT(1), test_none());
  CHECK("bernoulli", row, test_arg(&input), test_none());
  for (int training = 0; training < 2; training++) {
    CHECK_2("native_dropout", row, TENSOR(KW_BOOL, NULL, 3001), test_arg(&input), FLOAT(0.4), FLAG(training),
            test_none());
  }
}

/* Rows of weights, some of them 0; of one row none is more, and of the last one is none at all. */
static void test_samples(void **state) {
  (void)state;
  static const kw_dtype floats[] = {KW_F16, KW_BF16, KW_F32, KW_F64};
  for (size_t d = 0; d < sizeof floats / sizeof *floats; d++) {
    const kw_dtype dtype = floats[d];
    const int64_t size = (int64_t)kw_number_size(dtype);
    for (int64_t i = 0; i < MOST; i++) {
      const bool is_none = i / 100 == 7 || draw() % 3 == 0;
      kw_number_store(dtype, numbers[0] + i * size, is_none ? 0 : draw() % 50 + 0.5);
    }
    const kw_tensor_ref fine = TENSOR(dtype, numbers[0], 5, 100), all = TENSOR(dtype, numbers[0], 9, 100);
    const kw_tensor_ref row = TENSOR(dtype, numbers[0], 600), spread = apart(TENSOR(dtype, numbers[0], 2, 100));
    CHECK("multinomial", TENSOR(KW_I64, NULL, 5, 31), test_arg(&fine), INT(31), FLAG(true), test_none());
    CHECK("multinomial", TENSOR(KW_I64, NULL, 5, 31), test_arg(&fine), INT(31), FLAG(false), test_none());
    CHECK("multinomial", TENSOR(KW_I64, NULL, 300), test_arg(&row), INT(300), FLAG(false), test_none());
    CHECK("multinomial", apart(TENSOR(KW_I64, NULL, 2, 7)), test_arg(&spread), INT(7), FLAG(false), test_none());
    kw_number_store(dtype, numbers[0] + 850 * size, (double)NAN);
    CHECK("multinomial", TENSOR(KW_I64, NULL, 9, 3), test_arg(&all), INT(3), FLAG(true), test_none());
  }
}

static void test_random(void **state) {
  (void)state;
  static const kw_dtype dtypes[] = {KW_BOOL, KW_U8, KW_I64, KW_F32, KW_F64};
  static const kw_dtype floats[] = {KW_F16, KW_BF16, KW_F32, KW_F64};
  for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++) check_random(dtypes[d]);
  for (size_t d = 0; d < sizeof floats / sizeof *floats; d++) check_random_floats(floats[d]);
}

/* ---- Sorting ----------------------------------------------------------------------------------------------------- */

static void test_sorting(void **state) {
  (void)state;
  static const int64_t lines[] = {1, 5, 40, 41, 300};
  for (kw_dtype dtype = 0; dtype <= KW_F64; dtype++) {
    fill(dtype, numbers[0]);
    for (size_t l = 0; l < sizeof lines / sizeof *lines; l++) {
      for (int descending = 0; descending < 2; descending++) {
        for (int64_t dim = 0; dim < 2; dim++) {
          const int64_t shape[] = {dim ? 6 : lines[l], dim ? lines[l] : 6};
          const kw_tensor_ref in = test_tensor(dtype, numbers[0], 2, shape), spread = apart(in);
          const kw_tensor_ref values = test_tensor(dtype, NULL, 2, shape), places = test_tensor(KW_I64, NULL, 2, shape);
          CHECK_2("sort.stable", values, apart(places), test_arg(descending ? &spread : &in), FLAG(true),
                  INT(dim ? -1 : 0), FLAG(descending));
        }
      }
    }
  }
}

/* Lines in ascending order with equals, both zeros and NaN, and values of the same kind. */
static void test_searching(void **state) {
  (void)state;
  static const int64_t counts[] = {0, 1, 2, 15, 16, 100, 601};
  static const kw_dtype dtypes[] = {KW_I32, KW_I64, KW_F32, KW_F64};
  for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++) {
    const kw_dtype dtype = dtypes[d];
    const int64_t size = (int64_t)kw_number_size(dtype);
    for (size_t l = 0; l < sizeof counts / sizeof *counts; l++) {
      const int64_t count = counts[l];
      fill(dtype, numbers[1]);
      for (int64_t i = 0; i < 6 * count; i++) {
        const double number = (double)(i % count) * 70.0 / (double)count - 20;
        const bool is_last = i % count > count - count / 5, is_float = kw_number_is_float(dtype);
        kw_number_store(dtype, numbers[0] + i * size,
                        is_last && is_float ? (double)NAN : floor(number < 0 ? 0 : number));
      }
      const kw_tensor_ref line = TENSOR(dtype, numbers[0], count), lines = TENSOR(dtype, numbers[0], 2, 3, count);
      const kw_tensor_ref values = TENSOR(dtype, numbers[1], 2, 3, 37), one = TENSOR(dtype, numbers[1], 2, 3, 1);
      const kw_tensor_ref spread = apart(values);
      for (int right = 0; right < 2; right++) {
        CHECK("searchsorted.Tensor", TENSOR(KW_I64, NULL, 2, 3, 37), test_arg(&line), test_arg(&spread), FLAG(false),
              FLAG(right), test_none(), test_none());
        CHECK("searchsorted.Tensor", apart(TENSOR(KW_I32, NULL, 2, 3, 37)), test_arg(&lines), test_arg(&values),
              FLAG(true), FLAG(right), test_none(), test_none());
        CHECK("searchsorted.Tensor", TENSOR(KW_I64, NULL, 2, 3, 1), test_arg(&lines), test_arg(&one), FLAG(false),
              FLAG(right), test_none(), test_none());
      }
    }
  }
}

/* ---- Masks ------------------------------------------------------------------------------------------------------- */

/* n elements of which one in `rare` is chosen, by a mask that is dense or not. */
static void check_masks(kw_dtype dtype, int64_t n, uint32_t rare, bool is_apart) {
  static uint8_t mask[2 * 16 * MOST];
  for (size_t i = 0; i < sizeof mask; i++) mask[i] = rare > 0 && draw() % rare == 0;
  const kw_tensor_ref self = TENSOR(dtype, numbers[0], n), dense = TENSOR(KW_BOOL, mask, n);
  const kw_tensor_ref source = TENSOR(dtype, numbers[1], n), little = TENSOR(dtype, numbers[1], n / 8);
  const kw_tensor_ref chosen = is_apart ? apart(dense) : dense, places = TENSOR(KW_I64, NULL, n, 1);
  CHECK_2("masked_select", self, RANK0(KW_I64, NULL), test_arg(&self), test_arg(&chosen));
  CHECK("masked_scatter", self, test_arg(&self), test_arg(&chosen), test_arg(&source));
  CHECK("masked_scatter", self, test_arg(&self), test_arg(&chosen), test_arg(&little));
  if (n <= MOST) CHECK_2("nonzero", places, RANK0(KW_I64, NULL), test_arg(&chosen));
}

/* Three pieces, and elements of all sizes. */
static void test_masks(void **state) {
  (void)state;
  static const kw_dtype dtypes[] = {KW_I16, KW_F32, KW_F64, KW_C128};
  static const uint32_t rare[] = {0, 1, 2, 50};
  char *bytes = &numbers[0][0];
  for (size_t i = 0; i < sizeof numbers; i++) bytes[i] = (char)draw();
  for (size_t r = 0; r < sizeof rare / sizeof *rare; r++) {
    for (int is_apart = 0; is_apart < 2; is_apart++) {
      check_masks(KW_U8, 40000, rare[r], is_apart);
      for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++) check_masks(dtypes[d], 1000, rare[r], is_apart);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_placing),
      cmocka_unit_test(test_choosing),
      cmocka_unit_test(test_sums),
      cmocka_unit_test(test_random),
      cmocka_unit_test(test_samples),
      cmocka_unit_test(test_sorting),
      cmocka_unit_test(test_searching),
      cmocka_unit_test(test_distances),
      cmocka_unit_test(test_columns),
      cmocka_unit_test(test_convolutions),
      cmocka_unit_test(test_far_windows),
      cmocka_unit_test(test_masks),
      cmocka_unit_test(test_large_rows_are_joined),
  };
  const char *why;
  if (!kw_fast_choose(&why)) return 0; /* the environment wants no fast kernels */
  return cmocka_run_group_tests(tests, NULL, NULL);
}
