/* SPDX-License-Identifier: Apache-2.0
 *
 * Tests of walking strided operands in rows.
 */
#include "test_call.h"

#include "loop.h"
#include "walk.h"

/* Copies operand 1 to operand 0, and counts the rows. */
static void copy_row(void *context, char *const *at, const int64_t *step, int64_t n) {
  ++*(int *)context;
  for (int64_t i = 0; i < n; i++) memcpy(at[0] + i * step[0], at[1] + i * step[1], sizeof(float));
}

static int copied(const kw_tensor_ref *out, const kw_tensor_ref *in, int64_t cut) {
  kw_loop loop;
  int rows = 0;
  kw_loop_begin(&loop, out);
  kw_loop_add(&loop, in);
  kw_loop_make(&loop);
  char *base[] = {kw_walk_base(out), kw_walk_base(in)};
  kw_loop_run(&loop, base, 0, cut, copy_row, &rows);
  if (cut < loop.numel) kw_loop_run(&loop, base, cut, loop.numel, copy_row, &rows);
  return rows;
}

static void fill(float *x, int n) {
  for (int i = 0; i < n; i++) x[i] = (float)i;
}

static void dense_operands_are_one_row(void **state) {
  (void)state;
  float x[60], y[60] = {0};
  fill(x, 60);
  const kw_tensor_ref in = TENSOR(KW_F32, x, 3, 4, 5), out = TENSOR(KW_F32, y, 3, 4, 5);
  assert_int_equal(copied(&out, &in, 60), 1);
  assert_memory_equal(x, y, sizeof x);
}

/* Both transposed alike: the order of dimensions is that of memory. */
static void dense_operands_in_another_order_are_one_row(void **state) {
  (void)state;
  float x[60], y[60] = {0};
  fill(x, 60);
  kw_tensor_ref in = TENSOR(KW_F32, x, 5, 4, 3), out = TENSOR(KW_F32, y, 5, 4, 3);
  const int64_t strides[] = {1, 5, 20};
  memcpy(in.strides, strides, sizeof strides);
  memcpy(out.strides, strides, sizeof strides);
  assert_int_equal(copied(&out, &in, 60), 1);
  assert_memory_equal(x, y, sizeof x);
}

/* A loop cut anywhere visits each element once. */
static void a_loop_may_be_cut_anywhere(void **state) {
  (void)state;
  for (int64_t cut = 0; cut <= 24; cut++) {
    float x[24], y[24] = {0};
    fill(x, 24);
    kw_tensor_ref in = TENSOR(KW_F32, x, 2, 3, 4), out = TENSOR(KW_F32, y, 2, 3, 4);
    in.strides[0] = 4, in.strides[1] = 8, in.strides[2] = 1; /* dimensions 0 and 1 transposed in memory */
    copied(&out, &in, cut);
    for (int i = 0; i < 2; i++) {
      for (int j = 0; j < 3; j++) {
        for (int k = 0; k < 4; k++) assert_true(y[(i * 3 + j) * 4 + k] == x[i * 4 + j * 8 + k]);
      }
    }
  }
}

static void operands_repeat(void **state) {
  (void)state;
  float x[3] = {1, 2, 3}, y[6] = {0};
  const kw_tensor_ref in = TENSOR(KW_F32, x, 3), column = TENSOR(KW_F32, x, 2, 1), out = TENSOR(KW_F32, y, 2, 3);
  copied(&out, &in, 6);
  assert_memory_equal(y, ((float[]){1, 2, 3, 1, 2, 3}), sizeof y);
  copied(&out, &column, 6);
  assert_memory_equal(y, ((float[]){1, 1, 1, 2, 2, 2}), sizeof y);
}

static void rank_0_is_a_row_of_one(void **state) {
  (void)state;
  float x = 7, y = 0;
  const kw_tensor_ref in = RANK0(KW_F32, &x), out = RANK0(KW_F32, &y);
  assert_int_equal(copied(&out, &in, 1), 1);
  assert_true(y == 7);
}

static void a_loop_over_nothing_has_no_rows(void **state) {
  (void)state;
  float x = 0;
  const kw_tensor_ref in = TENSOR(KW_F32, &x, 3, 0, 5), out = TENSOR(KW_F32, &x, 3, 0, 5);
  assert_int_equal(copied(&out, &in, 0), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(dense_operands_are_one_row), cmocka_unit_test(dense_operands_in_another_order_are_one_row),
      cmocka_unit_test(a_loop_may_be_cut_anywhere), cmocka_unit_test(operands_repeat),
      cmocka_unit_test(rank_0_is_a_row_of_one),     cmocka_unit_test(a_loop_over_nothing_has_no_rows),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
