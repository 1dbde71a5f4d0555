/* SPDX-License-Identifier: Apache-2.0
 *
 * Tests of copies of strided tensors against the reference's, and of how each instruction set moves elements.
 */
#include "test_fast.h"

#include "move.h"
#include "number.h"
#include "strided.h"
#include "test_call.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static const int64_t sizes[KW_MOVE_SIZES] = {1, 2, 4, 8, 16};

static void fill(char *bytes, size_t count) {
  uint32_t state = 12345;
  for (size_t i = 0; i < count; i++) {
    state = state * 1664525u + 1013904223u;
    bytes[i] = (char)(state >> 24);
  }
}

/* ---- Elements of one size ---------------------------------------------------------------------------------------- */

#define FAR 48 /* bytes: the longest step */
#define LONG 70

static void check_move(const kw_isa *isa, uint32_t which, int64_t to_step, int64_t from_step, int64_t n) {
  static char from[2 * FAR * LONG], to[FAR * LONG], expected[FAR * LONG];
  const char *first = from + (from_step < 0 ? FAR * LONG : 0);
  fill(from, sizeof from);
  memset(to, 'x', sizeof to);
  memset(expected, 'x', sizeof expected);
  for (int64_t i = 0; i < n; i++) memcpy(expected + i * to_step, first + i * from_step, (size_t)sizes[which]);
  isa->move[which](to, to_step, first, from_step, n);
  assert_memory_equal(to, expected, sizeof to);
}

static void test_elements_are_moved(void **state) {
  (void)state;
  for (kw_capability level = KW_CAPABILITY_BASELINE; level < KW_CAPABILITY_COUNT; level++) {
    const kw_isa *isa = test_isa(level);
    for (uint32_t which = 0; isa && which < KW_MOVE_SIZES; which++) {
      const int64_t size = sizes[which], steps[] = {size, 0, -size, 2 * size, 3 * size, -3 * size};
      for (int64_t n = 0; n < LONG; n += n < 20 ? 1 : 7) {
        for (size_t k = 0; k < sizeof steps / sizeof *steps; k++) {
          check_move(isa, which, size, steps[k], n);
          check_move(isa, which, 3 * size, steps[k], n);
        }
      }
    }
  }
}

static void check_transpose(const kw_isa *isa, uint32_t which, int64_t rows, int64_t columns) {
  enum { SIDE = 40 };
  static char from[SIDE * SIDE * 16], to[SIDE * SIDE * 16], expected[SIDE * SIDE * 16];
  const int64_t size = sizes[which], pitch = SIDE * size;
  fill(from, sizeof from);
  memset(to, 'x', sizeof to);
  memset(expected, 'x', sizeof expected);
  for (int64_t r = 0; r < rows; r++) {
    for (int64_t c = 0; c < columns; c++) {
      memcpy(expected + c * pitch + r * size, from + r * pitch + c * size, (size_t)size);
    }
  }
  isa->transpose[which](to, pitch, from, pitch, rows, columns);
  assert_memory_equal(to, expected, sizeof to);
}

static void test_rows_become_columns(void **state) {
  (void)state;
  static const int64_t sides[] = {0, 1, 2, 3, 4, 5, 8, 15, 16, 17, 32, 39};
  enum { SIDES = sizeof sides / sizeof *sides };
  for (kw_capability level = KW_CAPABILITY_BASELINE; level < KW_CAPABILITY_COUNT; level++) {
    const kw_isa *isa = test_isa(level);
    for (uint32_t which = 0; isa && which < KW_MOVE_SIZES; which++) {
      for (int i = 0; i < SIDES * SIDES; i++) check_transpose(isa, which, sides[i / SIDES], sides[i % SIDES]);
    }
  }
}

static void copy_bytes(const kw_isa *isa, char *to, const char *from, int64_t bytes) {
  isa->copy_rows(to, 0, from, 0, bytes, 1);
}

static void stream_bytes(const kw_isa *isa, char *to, const char *from, int64_t bytes) {
  isa->stream(to, from, bytes);
  isa->stream_end();
}

/* Wherever they begin. */
static void check_bytes(void (*copy)(const kw_isa *isa, char *to, const char *from, int64_t bytes)) {
  static char from[1500], to[1600], expected[1600];
  fill(from, sizeof from);
  for (kw_capability level = KW_CAPABILITY_BASELINE; level < KW_CAPABILITY_COUNT; level++) {
    const kw_isa *isa = test_isa(level);
    for (int64_t begin = 0; isa && begin < 70; begin++) {
      for (int64_t bytes = 0; bytes < 1400; bytes += bytes < 140 ? 1 : 63) {
        memset(to, 'x', sizeof to);
        memset(expected, 'x', sizeof expected);
        memcpy(expected + begin, from + begin / 3, (size_t)bytes);
        copy(isa, to + begin, from + begin / 3, bytes);
        assert_memory_equal(to, expected, sizeof to);
      }
    }
  }
}

static void test_bytes_are_copied(void **state) {
  (void)state;
  check_bytes(copy_bytes);
}

static void test_bytes_are_streamed(void **state) {
  (void)state;
  check_bytes(stream_bytes);
}

/* ---- Tensors ----------------------------------------------------------------------------------------------------- */

#define MOST 24000 /* elements */

/* A tensor over `data` whose dimensions lie there in another order, the last of `order` densest, `gap` elements apart
 * there. */
static kw_tensor_ref permuted(kw_dtype dtype, char *data, uint32_t rank, const int64_t *shape, const int *order,
                              int64_t gap) {
  kw_tensor_ref tensor = test_tensor(dtype, data, rank, shape);
  int64_t stride = gap;
  for (uint32_t d = rank; d-- > 0;) {
    tensor.strides[order[d]] = stride;
    stride *= shape[order[d]];
  }
  return tensor;
}

/* Elements that any dtype has exactly, and for floating point some that it has not. */
static void fill_elements(kw_dtype dtype, char *data, int64_t count) {
  for (int64_t i = 0; i < count; i++) {
    const double value = (double)((i * 7919) % 251) - 120;
    kw_number_store(dtype, data + i * (int64_t)kw_number_size(dtype), kw_number_is_float(dtype) ? value * 1.37 : value);
  }
}

static void check_copy(kw_tensor_ref to, const kw_tensor_ref *from, int64_t piece) {
  static char got[16 * MOST], expected[16 * MOST];
  const kw_host_api host = test_host(&piece);
  kw_strided copy;
  memset(got, 'x', sizeof got);
  memset(expected, 'x', sizeof expected);
  to.mem = expected;
  kw_move_elements(from, &to);
  assert_true(kw_strided_plan(&copy, &to, from));
  assert_int_equal(kw_strided_run(&copy, &host, got, from->mem), KW_OK);
  if (memcmp(got, expected, sizeof got) == 0) return;
  fail_msg("dtypes %d and %d, shape [%lld, %lld, ...], pieces of %lld", from->dtype, to.dtype, (long long)to.shape[0],
           (long long)to.shape[1], (long long)piece);
}

static void test_any_order_is_copied_to_any_order(void **state) {
  (void)state;
  static const int64_t shapes[][3] = {{1, 1, 1},    {5, 1, 7},    {2, 70, 130}, {3, 200, 5}, {1, 3, 3000},
                                      {1, 3000, 3}, {9, 17, 129}, {64, 64, 4},  {0, 4, 5}};
  static const int orders[][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
  static const struct {
    kw_dtype from, to;
  } pairs[] = {{KW_U8, KW_U8},   {KW_BF16, KW_BF16}, {KW_F32, KW_F32}, {KW_C64, KW_C64}, {KW_C128, KW_C128},
               {KW_F32, KW_F16}, {KW_BF16, KW_F32},  {KW_F64, KW_I32}, {KW_I64, KW_U8},  {KW_BOOL, KW_F8E5M2}};
  static char data[16 * 2 * MOST];
  for (size_t p = 0; p < sizeof pairs / sizeof *pairs; p++) {
    fill_elements(pairs[p].from, data, 2 * MOST);
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
      for (int o = 0; o < 36; o++) {
        const int64_t gap = o % 5 == 4 ? 2 : 1;
        const kw_tensor_ref from = permuted(pairs[p].from, data, 3, shapes[s], orders[o % 6], gap);
        const kw_tensor_ref to = permuted(pairs[p].to, NULL, 3, shapes[s], orders[o / 6], 1);
        check_copy(to, &from, o % 2 ? 3 : INT64_C(1) << 40);
      }
    }
  }
}

static void test_what_repeats_is_copied(void **state) {
  (void)state;
  static char data[16 * MOST];
  static const int64_t shape[] = {7, 60, 50};
  static const int64_t strides[][3] = {{0, 0, 0}, {0, 0, 1}, {0, 1, 0}, {1, 0, 0}, {0, 1, 60}, {3000, 0, -1}};
  for (size_t s = 0; s < sizeof strides / sizeof *strides; s++) {
    for (int kind = 0; kind < 3; kind++) {
      const kw_dtype dtype = kind == 2 ? KW_I32 : KW_F16;
      fill_elements(dtype, data, MOST);
      kw_tensor_ref from = test_tensor(dtype, data + 100 * kw_number_size(dtype), 3, shape);
      memcpy(from.strides, strides[s], sizeof strides[s]);
      check_copy(test_tensor(kind == 0 ? KW_F16 : KW_F64, NULL, 3, shape), &from, 1000);
    }
  }
}

/* Every pair of dtypes of which a conversion is said to be there. */
static void test_every_pair_of_dtypes(void **state) {
  (void)state;
  static char data[16 * 300], got[16 * 300], expected[16 * 300];
  int64_t piece = 300;
  const kw_host_api host = test_host(&piece);
  uint32_t pairs = 0;
  for (kw_dtype from = 0; from <= KW_C128; from++) {
    fill(data, sizeof data);
    for (kw_dtype to = 0; to <= KW_C128; to++) {
      const kw_tensor_ref in = TENSOR(from, data, 300), out = TENSOR(to, expected, 300);
      const int64_t size = (int64_t)kw_number_size(to);
      kw_strided copy;
      if (!kw_strided_plan(&copy, &out, &in)) continue;
      pairs++;
      kw_move_elements(&in, &out);
      assert_int_equal(kw_strided_run(&copy, &host, got, data), KW_OK);
      for (int64_t i = 0; i < 300; i++) {
        const char *a = got + i * size, *b = expected + i * size;
        if (memcmp(a, b, (size_t)size) == 0) continue;
        const double x = kw_number_load(to, a), y = kw_number_load(to, b);
        if (from == to || x == x || y == y) fail_msg("dtypes %d and %d: %a is %a", from, to, x, y);
      }
    }
  }
  assert_int_equal(pairs, 12 * 12 - 1 + 2); /* all real ones but i64 to bf16, and complex ones to themselves */
}

/* Numbers of the dtype from 0 on, or their transpose. */
static void check_large(kw_dtype dtype, bool transposed, const int32_t *from, char *to) {
  enum { ROWS = 4100, COLUMNS = 2100 };
  int64_t piece = 100000;
  const int64_t shape[] = {ROWS, COLUMNS}, size = (int64_t)kw_number_size(dtype);
  const kw_host_api host = test_host(&piece);
  kw_tensor_ref in = test_tensor(KW_I32, (void *)(uintptr_t)from, 2, shape), out = test_tensor(dtype, to, 2, shape);
  if (transposed) in.strides[0] = 1;
  if (transposed) in.strides[1] = ROWS;
  kw_strided copy;
  assert_true(kw_strided_plan(&copy, &out, &in));
  assert_int_equal(kw_strided_run(&copy, &host, to, (const char *)from), KW_OK);
  for (int32_t r = 0; r < ROWS; r++) {
    for (int32_t c = 0; c < COLUMNS; c++) {
      char expected[8];
      kw_number_convert(KW_I32, &from[transposed ? r + c * ROWS : r * COLUMNS + c], dtype, expected);
      if (memcmp(to + (r * COLUMNS + c) * size, expected, (size_t)size) == 0) continue;
      fail_msg("row %d, column %d: dtype %d", r, c, dtype);
    }
  }
}

/* More bytes than the caches are said to hold, moved and converted, in rows and in tiles. */
static void test_large_results(void **state) {
  (void)state;
  enum { COUNT = 4100 * 2100 };
  static const kw_dtype dtypes[] = {KW_I32, KW_F32, KW_BF16};
  int32_t *from = malloc(sizeof *from * COUNT), *to = malloc(sizeof *to * COUNT);
  assert_non_null(from);
  assert_non_null(to);
  for (int32_t i = 0; i < COUNT; i++) from[i] = i;
  for (uint32_t k = 0; k < 2 * sizeof dtypes / sizeof *dtypes; k++) check_large(dtypes[k / 2], k % 2, from, (char *)to);
  free(from);
  free(to);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_elements_are_moved),     cmocka_unit_test(test_rows_become_columns),
      cmocka_unit_test(test_bytes_are_streamed),     cmocka_unit_test(test_any_order_is_copied_to_any_order),
      cmocka_unit_test(test_what_repeats_is_copied), cmocka_unit_test(test_every_pair_of_dtypes),
      cmocka_unit_test(test_large_results),          cmocka_unit_test(test_bytes_are_copied),
  };
  const char *why;
  if (!kw_fast_choose(&why)) return 0; /* the environment wants no fast kernels */
  return cmocka_run_group_tests(tests, NULL, NULL);
}
