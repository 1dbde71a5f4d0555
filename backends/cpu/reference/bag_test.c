/* SPDX-License-Identifier: Apache-2.0
 *
 * Embedding bags, with numbers that can be checked by hand.
 */
#include "test_call.h"

#include <math.h>

static const test_table tables[] = {kw_reference_f32, kw_reference_f64, kw_reference_f128};

/* Row i of the table is 10 i, 10 i + 1. */
enum { ROWS = 10, COLUMNS = 2 };

typedef struct bag {
  float out[3][COLUMNS];
  int64_t places[8], sizes[3], chosen[3][COLUMNS];
} bag;

static kw_status run_bags(test_table table, const float *weight, const int64_t *indices, const int64_t *offsets,
                          int64_t bags, int64_t mode, bool last, int64_t padding, bag *out) {
  kw_tensor_ref w = TENSOR(KW_F32, weight, ROWS, COLUMNS), i = TENSOR(KW_I64, indices, 8);
  kw_tensor_ref o = TENSOR(KW_I64, offsets, bags + last), result = TENSOR(KW_F32, out->out, bags, COLUMNS);
  kw_tensor_ref places = TENSOR(KW_I64, out->places, 8), sizes = TENSOR(KW_I64, out->sizes, bags);
  kw_tensor_ref chosen = TENSOR(KW_I64, out->chosen, bags, COLUMNS);
  if (mode != 2) chosen = TENSOR(KW_I64, out->chosen, bags);
  const kw_tensor_ref *outs[] = {&result, &places, &sizes, &chosen};
  const kw_value no = {.tag = KW_TAG_BOOL}, yes = {.tag = KW_TAG_BOOL, .u.b = true};
  const kw_value args[9] = {test_arg(&w),
                            test_arg(&i),
                            test_arg(&o),
                            no,
                            {.tag = KW_TAG_INT, .u.i = mode},
                            no,
                            test_none(),
                            last ? yes : no,
                            {.tag = KW_TAG_INT, .u.i = padding}};
  kw_call call = {.struct_size = sizeof call, .arg_count = 9, .out_count = 4, .op = "_embedding_bag"};
  call.args = args;
  call.outs = outs;
  call.extra = TEST_EXTRA;
  return test_call(table, &call);
}

/* The example of the documentation of torch.nn.functional.embedding_bag: bags of 1 2 4 5 and 4 3 2 9. */
static const int64_t indices[8] = {1, 2, 4, 5, 4, 3, 2, 9}, offsets[4] = {0, 4, 8, 8};

static void fill_table(float *weight) {
  for (int i = 0; i < ROWS * COLUMNS; i++) weight[i] = (float)(10 * (i / COLUMNS) + i % COLUMNS);
}

static void test_modes(void **state) {
  (void)state;
  static const float want[3][2][COLUMNS] = {{{120, 124}, {180, 184}}, {{30, 31}, {45, 46}}, {{50, 51}, {90, 91}}};
  static const float padded[3][2][COLUMNS] = {{{80, 83}, {140, 143}},
                                              {{80.0f / 3, 83.0f / 3}, {140.0f / 3, 143.0f / 3}},
                                              {{50, 51}, {90, 91}}}; /* row 4 is no row */
  float weight[ROWS * COLUMNS];
  bag got;
  fill_table(weight);
  for (size_t t = 0; t < 3; t++) {
    for (int64_t mode = 0; mode < 3; mode++) {
      assert_int_equal(run_bags(tables[t], weight, indices, offsets, 2, mode, false, -1, &got), KW_OK);
      assert_memory_equal(got.out, want[mode], sizeof want[mode]);
      for (int i = 0; i < 8; i++) assert_int_equal(got.places[i], i / 4);
      assert_int_equal(got.sizes[0] + 10 * got.sizes[1], 44);
      if (mode == 2) assert_int_equal(got.chosen[0][1] + 10 * got.chosen[1][0], 95);
      assert_int_equal(run_bags(tables[t], weight, indices, offsets, 2, mode, true, 4, &got), KW_OK);
      assert_memory_equal(got.out, padded[mode], sizeof padded[mode]);
      assert_int_equal(got.sizes[0] + 10 * got.sizes[1], 33);
    }
  }
}

/* A bag of nothing is 0; of equal numbers the first is chosen, NaN before all. */
static void test_empty_bags_ties_and_nan(void **state) {
  (void)state;
  static const int64_t starts[3] = {0, 8, 8};
  float weight[ROWS * COLUMNS] = {0};
  bag got;
  assert_int_equal(run_bags(kw_reference_f32, weight, indices, starts, 3, 2, false, -1, &got), KW_OK);
  assert_true(got.out[0][0] == 0 && got.chosen[0][0] == 1);
  assert_true(got.out[2][1] == 0 && got.chosen[2][1] == 0 && got.sizes[1] == 0);
  weight[3 * COLUMNS] = NAN;
  weight[9 * COLUMNS] = 7;
  assert_int_equal(run_bags(kw_reference_f32, weight, indices, starts, 3, 2, false, -1, &got), KW_OK);
  assert_true(isnan(got.out[0][0]) && got.chosen[0][0] == 3);
  assert_int_equal(run_bags(kw_reference_f32, weight, indices, starts, 3, 1, false, -1, &got), KW_OK);
  assert_true(isnan(got.out[0][0]) && got.out[1][0] == 0);
}

static void test_data_errors(void **state) {
  (void)state;
  static const int64_t bad_offsets[][3] = {{1, 4, 8}, {0, 5, 4}, {0, 9, 8}, {0, 4, 7}};
  const int64_t bad_indices[8] = {1, 2, 4, 5, 4, 10, 2, 9};
  float weight[ROWS * COLUMNS] = {0};
  uint32_t error;
  bag got;
  test_error = &error;
  for (size_t i = 0; i < 4; i++) {
    error = 0;
    assert_int_equal(run_bags(kw_reference_f32, weight, indices, bad_offsets[i], 2, 0, true, -1, &got), KW_OK);
    assert_int_equal(error, TEST_ERROR_CODE + 2);
  }
  error = 0;
  assert_int_equal(run_bags(kw_reference_f32, weight, bad_indices, offsets, 2, 0, false, -1, &got), KW_OK);
  assert_int_equal(error, TEST_ERROR_CODE + 1);
  test_error = NULL;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_modes),
      cmocka_unit_test(test_empty_bags_ties_and_nan),
      cmocka_unit_test(test_data_errors),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
