/* SPDX-License-Identifier: Apache-2.0
 *
 * Tests of the kernels that select elements by what a tensor holds.
 */
#include "test_call.h"

#include <math.h>

static kw_status run_counted(const char *op, const kw_tensor_ref *out, int64_t *count, uint32_t arg_count,
                             const kw_value *args) {
  kw_tensor_ref counter = RANK0(KW_I64, count);
  const kw_tensor_ref *outs[] = {out, &counter};
  const kw_call call = {
      .struct_size = sizeof call, .arg_count = arg_count, .out_count = 2, .op = op, .args = args, .outs = outs};
  return test_call(kw_reference_f32, &call);
}

static void nonzero_lists_indices_in_order(void **state) {
  (void)state;
  const float x[] = {0, NAN, -0.0f, 3, 0, -1};
  int64_t rows[12], count = -1;
  kw_tensor_ref self = TENSOR(KW_F32, x, 2, 3), out = TENSOR(KW_I64, rows, 6, 2);
  memset(rows, 0x7f, sizeof rows);
  assert_int_equal(run_counted("nonzero", &out, &count, 1, (kw_value[]){test_arg(&self)}), KW_OK);
  assert_int_equal(count, 3);
  assert_memory_equal(rows, ((int64_t[]){0, 1, 1, 0, 1, 2}), 6 * sizeof *rows);
  assert_int_equal(rows[6], 0x7f7f7f7f7f7f7f7f); /* behind the count nothing is written */
}

static void nonzero_follows_strides(void **state) {
  (void)state;
  const int8_t x[] = {0, 1, 0, 0, 0, -128};
  int64_t rows[12], count = -1;
  kw_tensor_ref self = TENSOR(KW_I8, x, 3, 2), out = TENSOR(KW_I64, rows, 6, 2);
  self.strides[0] = 1, self.strides[1] = 3; /* columns 0 1 0 and 0 0 -128 */
  out.strides[0] = 1, out.strides[1] = 6;
  assert_int_equal(run_counted("nonzero", &out, &count, 1, (kw_value[]){test_arg(&self)}), KW_OK);
  assert_int_equal(count, 2);
  assert_int_equal(rows[0], 1);
  assert_int_equal(rows[6], 0);
  assert_int_equal(rows[1], 2);
  assert_int_equal(rows[7], 1);
}

static void select_takes_what_is_masked(void **state) {
  (void)state;
  const float x[] = {1, 2, 3, 4, 5, 6};
  const uint8_t mask[] = {1, 0, 2}, all[] = {1, 0, 0, 0, 1, 1};
  float out[6];
  int64_t count = -1;
  kw_tensor_ref self = TENSOR(KW_F32, x, 2, 3), row = TENSOR(KW_BOOL, mask, 3), result = TENSOR(KW_F32, out, 6);
  kw_tensor_ref whole = TENSOR(KW_BOOL, all, 2, 3), point = RANK0(KW_F32, x + 4);
  out[4] = -1;
  kw_value args[] = {test_arg(&self), test_arg(&row)};
  assert_int_equal(run_counted("masked_select", &result, &count, 2, args), KW_OK);
  assert_int_equal(count, 4);
  assert_memory_equal(out, ((float[]){1, 3, 4, 6, -1}), 5 * sizeof *out);
  args[1] = test_arg(&whole);
  assert_int_equal(run_counted("masked_select", &result, &count, 2, args), KW_OK);
  assert_int_equal(count, 3);
  assert_memory_equal(out, ((float[]){1, 5, 6}), 3 * sizeof *out);
  args[0] = test_arg(&point);
  assert_int_equal(run_counted("masked_select", &result, &count, 2, args), KW_OK);
  assert_int_equal(count, 3);
  assert_memory_equal(out, ((float[]){5, 5, 5}), 3 * sizeof *out);
}

static void scatter_fills_what_is_masked(void **state) {
  (void)state;
  const int32_t x[] = {1, 2, 3, 4, 5, 6}, source[] = {10, 20, 30, 40};
  const uint8_t mask[] = {1, 0, 1};
  int32_t out[6];
  uint32_t error = 0;
  kw_tensor_ref self = TENSOR(KW_I32, x, 2, 3), row = TENSOR(KW_BOOL, mask, 3), result = TENSOR(KW_I32, out, 2, 3);
  kw_tensor_ref enough = TENSOR(KW_I32, source, 2, 2), few = TENSOR(KW_I32, source, 3);
  test_error = &error;
  RUN(kw_reference_f32, "masked_scatter", &result, test_arg(&self), test_arg(&row), test_arg(&enough));
  assert_memory_equal(out, ((int32_t[]){10, 2, 20, 30, 5, 40}), sizeof out);
  assert_int_equal(error, 0);
  RUN(kw_reference_f32, "masked_scatter", &result, test_arg(&self), test_arg(&row), test_arg(&few));
  assert_memory_equal(out, ((int32_t[]){10, 2, 20, 30, 5, 6}), sizeof out);
  assert_int_equal(error, TEST_ERROR_CODE + 2);
  test_error = NULL;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(nonzero_lists_indices_in_order),
      cmocka_unit_test(nonzero_follows_strides),
      cmocka_unit_test(select_takes_what_is_masked),
      cmocka_unit_test(scatter_fills_what_is_masked),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
