/* SPDX-License-Identifier: Apache-2.0
 *
 * The portable kernels that sort, and those that reduce what they have sorted, on more elements than the suite has:
 * many merges, items of one word and of two, several levels of partial results.
 */
#include "test_host.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static kw_value integer(int64_t i) {
  return (kw_value){.tag = KW_TAG_INT, .u.i = i};
}

static kw_value boolean(bool b) {
  return (kw_value){.tag = KW_TAG_BOOL, .u.b = b};
}

/* The same numbers each time; xorshift64 (Marsaglia, Xorshift RNGs, 2003). */
static uint64_t next(uint64_t *state) {
  *state ^= *state << 13;
  *state ^= *state >> 7;
  *state ^= *state << 17;
  return *state;
}

/* ---- Sorting ----------------------------------------------------------------------------------------------------- */

static int64_t load(kw_dtype dtype, const void *data, int64_t i) {
  return dtype == KW_I64 ? ((const int64_t *)data)[i] : ((const int32_t *)data)[i];
}

/* Rows of numbers of which about three are equal each. */
static void check_sort(test_host *host, kw_dtype dtype, int64_t rows, int64_t length, bool descending) {
  const int64_t count = rows * length, shape[] = {rows, length};
  const size_t size = test_dtype_size(dtype);
  void *numbers = test_room(count, size), *values = test_room(count, size);
  int64_t *indices = test_room(count, sizeof *indices);
  uint64_t state = 1;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t number = (int64_t)(next(&state) % (uint64_t)(length / 3 + 1)) - length / 6;
    if (dtype == KW_I64) {
      ((int64_t *)numbers)[i] = number * (INT64_C(1) << 40);
    } else {
      ((int32_t *)numbers)[i] = (int32_t)number;
    }
  }
  kw_tensor_ref self = test_tensor(host, dtype, 2, shape, numbers), sorted = test_tensor(host, dtype, 2, shape, NULL),
                places = test_tensor(host, KW_I64, 2, shape, NULL);
  const kw_tensor_ref *outs[] = {&sorted, &places};
  const kw_value args[] = {test_tensor_arg(&self), boolean(true), integer(1), boolean(descending)};
  assert_int_equal(test_call_results(host, "sort.stable", dtype, args, 4, outs, 2), -1);
  test_read(host, &sorted, values, (uint64_t)count * size);
  test_read(host, &places, indices, (uint64_t)count * sizeof *indices);
  for (int64_t i = 0; i < count; ++i) {
    assert_in_range(indices[i], 0, length - 1);
    const int64_t value = load(dtype, values, i);
    assert_int_equal(value, load(dtype, numbers, i / length * length + indices[i]));
    if (i % length == 0) continue;
    const int64_t before = load(dtype, values, i - 1);
    assert_true(descending ? before >= value : before <= value);
    assert_true(before != value || indices[i - 1] < indices[i]);
  }
  test_tensor_free(host, &self);
  test_tensor_free(host, &sorted);
  test_tensor_free(host, &places);
  free(numbers);
  free(values);
  free(indices);
}

static void test_long_rows_are_sorted(void **state) {
  check_sort(*state, KW_I32, 1, 300007, false);
  check_sort(*state, KW_I64, 1, 70001, true);
}

static void test_many_rows_are_sorted(void **state) {
  check_sort(*state, KW_I32, 1009, 10, true);
  check_sort(*state, KW_I32, 67, 1021, false);
  check_sort(*state, KW_I64, 3, 33, false);
}

/* ---- Sums -------------------------------------------------------------------------------------------------------- */

/* index_add of `count` rows of `columns` numbers, by chance or all `equal`, whose errors do not cancel: seven of ten go
 * to row 0. */
static void check_index_add(test_host *host, int64_t count, int64_t rows, int64_t columns, bool equal) {
  const int64_t shape[] = {rows, columns}, source_shape[] = {count, columns};
  float *numbers = test_room(count * columns, sizeof *numbers), *self = test_room(rows * columns, sizeof *self);
  float *got = test_room(rows * columns, sizeof *got);
  double *want = test_room(rows * columns, sizeof *want), *magnitude = test_room(rows * columns, sizeof *magnitude);
  int64_t *index = test_room(count, sizeof *index), *terms = test_room(rows, sizeof *terms);
  uint64_t state = 1;
  for (int64_t i = 0; i < rows * columns; ++i) want[i] = magnitude[i] = self[i] = (float)i;
  for (int64_t i = 0; i < count; ++i) {
    index[i] = next(&state) % 10 < 7 ? 0 : (int64_t)(next(&state) % (uint64_t)rows);
    ++terms[index[i]];
    for (int64_t column = 0; column < columns; ++column) {
      const float number = equal ? 0.1f : (float)(next(&state) % 2000) / 1000 - 0.5f;
      numbers[i * columns + column] = number;
      want[index[i] * columns + column] += number;
      magnitude[index[i] * columns + column] += fabs(number);
    }
  }
  kw_tensor_ref table = test_tensor(host, KW_F32, 2, shape, self), named = test_tensor(host, KW_I64, 1, &count, index),
                source = test_tensor(host, KW_F32, 2, source_shape, numbers),
                out = test_tensor(host, KW_F32, 2, shape, NULL);
  test_call(host, "index_add", KW_F32,
            (kw_value[]){test_tensor_arg(&table), integer(0), test_tensor_arg(&named), test_tensor_arg(&source),
                         test_int_scalar(1)},
            5, &out);
  test_read(host, &out, got, (uint64_t)(rows * columns) * sizeof *got);
  for (int64_t i = 0; i < rows * columns; ++i) {
    const double growth = 4 + 2 * sqrt((double)terms[i / columns] + 1); /* of the op's bound */
    if (fabs(got[i] - want[i]) > growth * 0x1p-23 * magnitude[i]) fail_msg("got %.9g, want %.9g", got[i], want[i]);
  }
  test_tensor_free(host, &table);
  test_tensor_free(host, &named);
  test_tensor_free(host, &source);
  test_tensor_free(host, &out);
  free(numbers);
  free(self);
  free(got);
  free(want);
  free(magnitude);
  free(index);
  free(terms);
}

static void test_many_numbers_to_one_place_are_added(void **state) {
  check_index_add(*state, 100003, 3, 1, false);
  check_index_add(*state, 5003, 7, 5, false);
  check_index_add(*state, 1000003, 3, 1, true);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_long_rows_are_sorted),
      cmocka_unit_test(test_many_rows_are_sorted),
      cmocka_unit_test(test_many_numbers_to_one_place_are_added),
  };
  return cmocka_run_group_tests(tests, test_host_start, test_host_stop);
}
