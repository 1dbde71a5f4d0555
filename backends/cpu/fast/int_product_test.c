/* SPDX-License-Identifier: Apache-2.0
 *
 * Tests of products of int8, bit by bit against sums of 64 bits: shapes around what blocks, words and packed depths
 * have, operands that lie in every order, and other numbers of threads.
 */
#include "test_fast.h"

#include "test_call.h"

enum { MOST_ROWS = 70, MOST_K = 1100, MOST_COLUMNS = 130 };

static int8_t a[2 * 2 * MOST_ROWS * MOST_K], b[2 * 2 * MOST_K * MOST_COLUMNS];
static int32_t expected[MOST_ROWS][MOST_COLUMNS], got[2 * MOST_ROWS * MOST_COLUMNS];
static uint32_t threads;

static kw_status count_threads(void *context, uint32_t *out_count) {
  (void)context;
  *out_count = threads;
  return KW_OK;
}

/* A matrix: 0 dense rows, 1 dense columns, 2 and 3 the same with gaps everywhere. */
static kw_tensor_ref matrix(kw_dtype dtype, void *data, int64_t rows, int64_t columns, int order) {
  kw_tensor_ref tensor = test_tensor(dtype, data, 2, (const int64_t[]){rows, columns});
  const int64_t gap = order / 2 + 1;
  tensor.strides[0] = gap * (order % 2 ? 1 : gap * columns);
  tensor.strides[1] = gap * (order % 2 ? gap * rows : 1);
  return tensor;
}

static void multiply(const kw_tensor_ref *x, const kw_tensor_ref *y) {
  for (int64_t i = 0; i < x->shape[0]; i++) {
    for (int64_t j = 0; j < y->shape[1]; j++) {
      int64_t sum = 0;
      for (int64_t p = 0; p < x->shape[1]; p++) {
        sum += a[i * x->strides[0] + p * x->strides[1]] * b[p * y->strides[0] + j * y->strides[1]];
      }
      expected[i][j] = (int32_t)sum;
    }
  }
}

static void check(int64_t rows, int64_t k, int64_t columns, int a_order, int b_order) {
  const kw_tensor_ref x = matrix(KW_I8, a, rows, k, a_order), y = matrix(KW_I8, b, k, columns, b_order);
  multiply(&x, &y);
  for (threads = 1; threads <= 7; threads += threads == 1 ? 1 : 5) {
    const kw_tensor_ref out = matrix(KW_I32, got, rows, columns, (int)threads % 2), *outs[] = {&out};
    const kw_value args[] = {test_arg(&x), test_arg(&y)};
    const kw_call call = {
        .struct_size = sizeof call, .arg_count = 2, .out_count = 1, .op = "_int_mm", .args = args, .outs = outs};
    memset(got, 'x', sizeof got);
    assert_int_equal(test_fast_call_on(&call, 1, count_threads), KW_OK);
    for (int64_t i = 0; i < rows; i++) {
      for (int64_t j = 0; j < columns; j++) {
        const int32_t number = got[i * out.strides[0] + j * out.strides[1]];
        if (number == expected[i][j]) continue;
        fail_msg("[%lld, %lld] x [.., %lld], orders %d and %d, %u threads: %d at [%lld, %lld], not %d", (long long)rows,
                 (long long)k, (long long)columns, a_order, b_order, threads, number, (long long)i, (long long)j,
                 expected[i][j]);
      }
    }
  }
}

static void test_shapes(void **state) {
  (void)state;
  static const int64_t rows[] = {1, 2, 5, 12, 13, MOST_ROWS}, depths[] = {0, 1, 2, 3, 4, 7, 64, 259, 1025, MOST_K};
  static const int64_t columns[] = {1, 7, 32, 33, MOST_COLUMNS};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    for (size_t p = 0; p < sizeof depths / sizeof *depths; p++) {
      for (size_t j = 0; j < sizeof columns / sizeof *columns; j++) {
        const int orders = (int)(i + p + j);
        check(rows[i], depths[p], columns[j], orders % 4, (orders + orders / 4) % 4);
      }
    }
  }
}

static void test_orders(void **state) {
  (void)state;
  for (int order = 0; order < 16; order++) check(29, 330, 75, order % 4, order / 4);
}

/* Where no term may saturate on its way. */
static void test_extremes(void **state) {
  (void)state;
  memset(a, -128, sizeof a);
  memset(b, -128, sizeof b);
  check(20, 1000, 40, 0, 0);
  memset(a, 127, sizeof a);
  check(20, 1001, 40, 0, 1);
}

static int fill(void **state) {
  (void)state;
  uint32_t draw = 2026;
  for (size_t i = 0; i < sizeof a; i++) a[i] = (int8_t)((draw = draw * 1664525u + 1013904223u) >> 24);
  for (size_t i = 0; i < sizeof b; i++) b[i] = (int8_t)((draw = draw * 1664525u + 1013904223u) >> 24);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(test_shapes, fill),
      cmocka_unit_test_setup(test_orders, fill),
      cmocka_unit_test_setup(test_extremes, fill),
  };
  const char *why;
  if (!kw_fast_choose(&why)) return 0; /* the environment wants no fast kernels */
  return cmocka_run_group_tests(tests, NULL, NULL);
}
