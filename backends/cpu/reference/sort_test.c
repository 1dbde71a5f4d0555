/* SPDX-License-Identifier: Apache-2.0
 *
 * Tests of the kernels that sort along a dimension.
 */
#include "test_call.h"

#include <math.h>

static kw_status run_sort(const char *op, const kw_tensor_ref *values, const kw_tensor_ref *indices, uint32_t arg_count,
                          const kw_value *args) {
  const kw_tensor_ref *outs[] = {values, indices};
  const kw_call call = {
      .struct_size = sizeof call, .arg_count = arg_count, .out_count = 2, .op = op, .args = args, .outs = outs};
  return test_call(kw_reference_f32, &call);
}

static kw_value dim_arg(int64_t dim) {
  return (kw_value){.tag = KW_TAG_INT, .u.i = dim};
}

static kw_value bool_arg(bool b) {
  return (kw_value){.tag = KW_TAG_BOOL, .u.b = b};
}

static void sorts_either_way_and_keeps_ties(void **state) {
  (void)state;
  const float x[] = {0, NAN, 3, -0.0f, -INFINITY, 3, NAN, INFINITY};
  static const int64_t up[] = {4, 0, 3, 2, 5, 7, 1, 6}, down[] = {1, 6, 7, 2, 5, 0, 3, 4};
  float out[8];
  int64_t where[8];
  kw_tensor_ref self = TENSOR(KW_F32, x, 8), values = TENSOR(KW_F32, out, 8), indices = TENSOR(KW_I64, where, 8);
  for (int descending = 0; descending < 2; descending++) {
    const kw_value args[] = {test_arg(&self), dim_arg(0), bool_arg(descending)};
    const kw_value stable[] = {test_arg(&self), test_none(), dim_arg(-1), bool_arg(descending)};
    for (int i = 0; i < 2; i++) {
      assert_int_equal(
          i ? run_sort("sort.stable", &values, &indices, 4, stable) : run_sort("sort", &values, &indices, 3, args),
          KW_OK);
      assert_memory_equal(where, descending ? down : up, sizeof where);
      for (int k = 0; k < 8; k++) assert_memory_equal(&out[k], &x[where[k]], sizeof *out);
    }
  }
}

static void sorts_along_a_dimension(void **state) {
  (void)state;
  const uint8_t x[] = {5, 200, 1, 4, 3, 255};
  uint8_t out[6];
  int64_t where[6];
  kw_tensor_ref self = TENSOR(KW_U8, x, 2, 3), values = TENSOR(KW_U8, out, 2, 3), indices = TENSOR(KW_I64, where, 2, 3);
  const kw_value columns[] = {test_arg(&self), dim_arg(0), bool_arg(false)};
  assert_int_equal(run_sort("sort", &values, &indices, 3, columns), KW_OK);
  assert_memory_equal(out, ((uint8_t[]){4, 3, 1, 5, 200, 255}), sizeof out);
  assert_memory_equal(where, ((int64_t[]){1, 1, 0, 0, 0, 1}), sizeof where);
  kw_tensor_ref top = TENSOR(KW_U8, out, 2, 2), places = TENSOR(KW_I64, where, 2, 2);
  const kw_value two[] = {test_arg(&self), dim_arg(2), dim_arg(1), bool_arg(true), bool_arg(false)};
  assert_int_equal(run_sort("topk", &top, &places, 5, two), KW_OK);
  assert_memory_equal(out, ((uint8_t[]){200, 5, 255, 4}), 4);
  assert_memory_equal(where, ((int64_t[]){1, 0, 2, 0}), 4 * sizeof *where);
}

/* What f32 and f64 do not tell apart. */
static void compares_integers_exactly(void **state) {
  (void)state;
  const int64_t x[] = {INT64_MAX, INT64_MAX - 1, INT64_MIN + 1, INT64_MIN};
  int64_t out[4], where[4];
  kw_tensor_ref self = TENSOR(KW_I64, x, 4), values = TENSOR(KW_I64, out, 4), indices = TENSOR(KW_I64, where, 4);
  const kw_value args[] = {test_arg(&self), dim_arg(0), bool_arg(false)};
  assert_int_equal(run_sort("sort", &values, &indices, 3, args), KW_OK);
  assert_memory_equal(where, ((int64_t[]){3, 2, 1, 0}), sizeof where);
}

static void a_scalar_is_a_line_of_one(void **state) {
  (void)state;
  const float x = 7;
  float out = 0;
  int64_t where = -1;
  kw_tensor_ref self = RANK0(KW_F32, &x), value = RANK0(KW_F32, &out), index = RANK0(KW_I64, &where);
  const kw_value args[] = {test_arg(&self), dim_arg(-1), bool_arg(true)};
  assert_int_equal(run_sort("sort", &value, &index, 3, args), KW_OK);
  assert_true(out == 7 && where == 0);
}

static kw_status search(const kw_tensor_ref *sequence, const kw_tensor_ref *self, bool right, const char *side,
                        const kw_tensor_ref *sorter, const kw_tensor_ref *out) {
  return TRY(kw_reference_f32, "searchsorted.Tensor", out, test_arg(sequence), test_arg(self),
             bool_arg(out->dtype == KW_I32), bool_arg(right), side ? test_string(side) : test_none(),
             sorter ? test_arg(sorter) : test_none());
}

static void finds_places_before_or_behind_equals(void **state) {
  (void)state;
  const float row[] = {-INFINITY, -0.0f, 0, 2, 2, INFINITY, NAN, NAN};
  const float x[] = {NAN, -INFINITY, 2, 0, -0.0f, 1, INFINITY, 3};
  static const int64_t left[] = {6, 0, 3, 1, 1, 3, 5, 5}, right[] = {8, 1, 5, 3, 3, 3, 6, 5};
  int64_t wide[8];
  int32_t narrow[8];
  kw_tensor_ref sequence = TENSOR(KW_F32, row, 8), self = TENSOR(KW_F32, x, 2, 4);
  kw_tensor_ref places = TENSOR(KW_I64, wide, 2, 4), small = TENSOR(KW_I32, narrow, 2, 4);
  assert_int_equal(search(&sequence, &self, false, NULL, NULL, &places), KW_OK);
  assert_memory_equal(wide, left, sizeof wide);
  assert_int_equal(search(&sequence, &self, false, "left", NULL, &places), KW_OK);
  assert_memory_equal(wide, left, sizeof wide);
  assert_int_equal(search(&sequence, &self, true, NULL, NULL, &places), KW_OK);
  assert_memory_equal(wide, right, sizeof wide);
  assert_int_equal(search(&sequence, &self, false, "right", NULL, &small), KW_OK);
  for (int i = 0; i < 8; i++) assert_int_equal(narrow[i], right[i]);
}

/* Each row of values has its row of the sequence, which a sorter puts in order. */
static void searches_rows_through_a_sorter(void **state) {
  (void)state;
  const int64_t rows[] = {INT64_MAX, 5, INT64_MAX - 1, 1, 3, 2}, order[] = {1, 2, 0, 0, 2, 1};
  const int64_t x[] = {INT64_MAX - 1, 6, 3, 4};
  int64_t out[4];
  kw_tensor_ref sequence = TENSOR(KW_I64, rows, 2, 3), sorter = TENSOR(KW_I64, order, 2, 3);
  kw_tensor_ref self = TENSOR(KW_I64, x, 2, 2), places = TENSOR(KW_I64, out, 2, 2);
  assert_int_equal(search(&sequence, &self, false, NULL, &sorter, &places), KW_OK);
  assert_memory_equal(out, ((int64_t[]){1, 1, 2, 3}), sizeof out);
  assert_int_equal(search(&sequence, &self, true, "right", &sorter, &places), KW_OK);
  assert_memory_equal(out, ((int64_t[]){2, 1, 3, 3}), sizeof out);
}

static void blames_a_sorter_that_names_no_place(void **state) {
  (void)state;
  const float row[] = {1, 2}, x = 1;
  int64_t out = -7;
  uint32_t error = 0;
  kw_tensor_ref sequence = TENSOR(KW_F32, row, 2), self = RANK0(KW_F32, &x), place = RANK0(KW_I64, &out);
  test_error = &error;
  for (int64_t bad = -1; bad <= 2; bad += 3) {
    const int64_t order[] = {0, bad};
    kw_tensor_ref sorter = TENSOR(KW_I64, order, 2);
    error = 0;
    assert_int_equal(search(&sequence, &self, false, NULL, &sorter, &place), KW_OK);
    assert_int_equal(error, TEST_ERROR_CODE + 5);
  }
  error = 0;
  assert_int_equal(search(&sequence, &self, true, NULL, NULL, &place), KW_OK);
  assert_int_equal(error, 0);
  assert_int_equal(out, 1);
  test_error = NULL;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sorts_either_way_and_keeps_ties),
      cmocka_unit_test(sorts_along_a_dimension),
      cmocka_unit_test(compares_integers_exactly),
      cmocka_unit_test(a_scalar_is_a_line_of_one),
      cmocka_unit_test(finds_places_before_or_behind_equals),
      cmocka_unit_test(searches_rows_through_a_sorter),
      cmocka_unit_test(blames_a_sorter_that_names_no_place),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
