/* SPDX-License-Identifier: Apache-2.0
 *
 * Tests of the lanes of every instruction set that was compiled and that this processor has.
 */
#include "test_fast.h"

#include <math.h>

enum { MOST = 3 * KW_LANE_BLOCK + 13 };

/* The tables, by level; those that are not there have no functions. */
static kw_isa tables[KW_CAPABILITY_COUNT];

static int fill_tables(void **state) {
  (void)state;
  for (kw_capability level = KW_CAPABILITY_BASELINE; level < KW_CAPABILITY_COUNT; level++) {
    const kw_isa *table = test_isa(level);
    if (table) tables[level] = *table;
  }
  return 0;
}

/* It is avx512 but for what half.c has. */
static void avx512_fp16_computes_with_f16(void **state) {
  (void)state;
  static const uint32_t its_own[] = {KW_POINTWISE_ADD, KW_POINTWISE_SUB, KW_POINTWISE_MUL, KW_POINTWISE_SQUARE};
  const kw_isa *lower = &tables[KW_CAPABILITY_AVX512];
  kw_isa table = tables[KW_CAPABILITY_AVX512_FP16];
  if (!table.pointwise[KW_POINTWISE_ADD][KW_LANE_F16]) skip(); /* not there */
  for (size_t i = 0; i < sizeof its_own / sizeof *its_own; i++) {
    kw_lanes_fn *function = &table.pointwise[its_own[i]][KW_LANE_F16];
    assert_true(*function != lower->pointwise[its_own[i]][KW_LANE_F16]);
    *function = lower->pointwise[its_own[i]][KW_LANE_F16];
  }
  assert_memory_equal(&table, lower, sizeof table);
}

/* Numbers between -4 and 4, the same in every run. */
static double number(uint32_t *seed) {
  *seed = *seed * 1664525u + 1013904223u;
  return (double)(int32_t)*seed / (double)(1 << 29);
}

/* What a lane becomes does not depend on where in a run it stands, nor on how long that is. */
static void a_lane_does_not_depend_on_its_place(void **state) {
  (void)state;
  static const uint8_t operands[] = {
#define COUNT(name, operands) operands,
      KW_POINTWISE_LIST(COUNT)
#undef COUNT
  };
  static float x[KW_POINTWISE_OPERANDS][MOST], all[MOST], one[1];
  uint32_t seed = 1;
  for (int k = 0; k < KW_POINTWISE_OPERANDS; k++) {
    for (int i = 0; i < MOST; i++) x[k][i] = (float)number(&seed);
  }
  for (kw_capability level = 0; level < KW_CAPABILITY_COUNT; level++) {
    for (uint32_t f = 0; f < KW_POINTWISE_COUNT; f++) {
      const kw_lanes_fn function = tables[level].pointwise[f][KW_LANE_F32];
      if (!function || operands[f] == 0) continue;
      const size_t size = f < KW_POINTWISE_FIRST_PREDICATE ? sizeof(float) : 1;
      function(all, (const void *[]){x[0], x[1], x[2], x[3], x[4], x[5]}, MOST);
      for (int i = 0; i < MOST; i += i < 40 ? 1 : 101) {
        function(one, (const void *[]){x[0] + i, x[1] + i, x[2] + i, x[3] + i, x[4] + i, x[5] + i}, 1);
        assert_memory_equal(one, (char *)all + (size_t)i * size, size);
      }
    }
  }
}

/* In every type of lanes. As floats whole numbers become numbers near 0, among them negative ones. */
static void operands_that_repeat_give_the_same_bits(void **state) {
  (void)state;
  static int32_t numbers[MOST];
  static int64_t filled[KW_POINTWISE_OPERANDS][MOST], expected[MOST], got[MOST];
  uint32_t found = 0;
  for (int i = 0; i < MOST; i++)
    numbers[i] = i / KW_LANE_BLOCK % 2 ? i % 151 : i % 301 - 150; /* a block without signs */
  for (uint32_t f = 0; f < KW_CAPABILITY_COUNT * KW_POINTWISE_COUNT * KW_LANE_COUNT; f++) {
    const kw_isa *isa = &tables[f / KW_LANE_COUNT / KW_POINTWISE_COUNT];
    const kw_lane lane = f % KW_LANE_COUNT;
    const uint32_t function = f / KW_LANE_COUNT % KW_POINTWISE_COUNT;
    const kw_repeated_fn *repeated = &isa->repeated[function][lane];
    const size_t size = lane == KW_LANE_F32 || lane == KW_LANE_I32 ? 4 : 8;
    if (!repeated->function) continue;
    found++;
    for (int sign = -1; sign <= 1; sign += 2) {
      const void *few[KW_POINTWISE_OPERANDS], *all[KW_POINTWISE_OPERANDS];
      for (uint32_t k = 0; k < KW_POINTWISE_OPERANDS; k++) {
        const int32_t one = sign * (3 + (int32_t)k);
        const int64_t step = k < repeated->from ? (int64_t)sizeof one : 0;
        const void *first = step ? &numbers[k] : &one;
        isa->read[KW_I32][lane](filled[k], first, step, MOST - KW_POINTWISE_OPERANDS);
        all[k] = few[k] = filled[k];
        if (step == 0) few[k] = memcpy(malloc(size), filled[k], size); /* reading more is seen by sanitizers */
      }
      isa->pointwise[function][lane](expected, all, MOST - KW_POINTWISE_OPERANDS);
      repeated->function(got, few, MOST - KW_POINTWISE_OPERANDS);
      assert_memory_equal(got, expected, (MOST - KW_POINTWISE_OPERANDS) * size);
      for (uint32_t k = repeated->from; k < KW_POINTWISE_OPERANDS; k++) free((void *)(uintptr_t)few[k]);
    }
  }
  assert_true(found > 0);
}

/* Nor does a NaN's payload, nor anything else that conversions make: many elements at once, one alone and strided. */
static void a_conversion_does_not_depend_on_its_place(void **state) {
  (void)state;
  enum { PATTERNS = 65536 };
  static uint16_t halves[PATTERNS], back[PATTERNS];
  static float lanes[PATTERNS];
  for (int i = 0; i < PATTERNS; i++) halves[i] = (uint16_t)i;
  for (kw_capability level = KW_CAPABILITY_BASELINE; level < KW_CAPABILITY_COUNT; level++) {
    for (kw_dtype dtype = KW_F16; dtype <= KW_BF16; dtype++) {
      const kw_read_fn read = tables[level].read[dtype][KW_LANE_F32];
      const kw_write_fn write = tables[level].write[dtype][KW_LANE_F32];
      if (!read || !write) continue;
      read(lanes, (const char *)halves, sizeof *halves, PATTERNS);
      write((char *)back, sizeof *back, lanes, PATTERNS);
      for (int i = 0; i + 2 < PATTERNS; i++) {
        float one[2];
        uint16_t again[3];
        read(one, (const char *)&halves[i], 2 * sizeof *halves, 2);
        assert_memory_equal(&one[0], &lanes[i], sizeof *lanes);
        assert_memory_equal(&one[1], &lanes[i + 2], sizeof *lanes);
        write((char *)again, 2 * sizeof *again, one, 2);
        assert_int_equal(again[0], back[i]);
        assert_int_equal(again[2], back[i + 2]);
      }
    }
  }
}

/* What works on elements of 16 bits gives the bits that the way by f32 gives, wherever an element stands; but of a NaN.
 */
static void narrow_lanes_are_rounded_once(void **state) {
  (void)state;
  static uint16_t x[KW_POINTWISE_OPERANDS][MOST], results[MOST], one, expected[MOST];
  static float wide[KW_POINTWISE_OPERANDS][MOST], out[MOST];
  uint32_t seed = 3;
  for (int k = 0; k < KW_POINTWISE_OPERANDS; k++) {
    for (int i = 0; i < MOST; i++) x[k][i] = (uint16_t)((seed = seed * 1664525u + 1013904223u) >> 16);
  }
  for (kw_capability level = KW_CAPABILITY_BASELINE; level < KW_CAPABILITY_COUNT; level++) {
    for (uint32_t f = 0; f < 2 * KW_POINTWISE_COUNT; f++) {
      const kw_isa *isa = &tables[level];
      const kw_dtype dtype = f % 2 ? KW_F16 : KW_BF16;
      const kw_lanes_fn function = isa->pointwise[f / 2][f % 2 ? KW_LANE_F16 : KW_LANE_BF16];
      if (!function) continue;
      for (int k = 0; k < KW_POINTWISE_OPERANDS; k++) isa->read[dtype][KW_LANE_F32](wide[k], (char *)x[k], 2, MOST);
      isa->pointwise[f / 2][KW_LANE_F32](out, (const void *[]){wide[0], wide[1], wide[2], wide[3]}, MOST);
      isa->write[dtype][KW_LANE_F32]((char *)expected, 2, out, MOST);
      function(results, (const void *[]){x[0], x[1], x[2], x[3]}, MOST);
      for (int i = 0; i < MOST; i++) {
        if (isnan(out[i])) continue;
        assert_int_equal(results[i], expected[i]);
        function(&one, (const void *[]){x[0] + i, x[1] + i, x[2] + i, x[3] + i}, 1);
        assert_int_equal(one, expected[i]);
      }
    }
  }
}

/* Every f16 with every 1021st: sums of subnormals and of numbers far apart, ties, and what overflows. */
static void f16_of_every_size_are_rounded_once(void **state) {
  (void)state;
  enum { PATTERNS = 65536, STEP = 1021 };
  static const kw_pointwise_fn functions[] = {KW_POINTWISE_ADD, KW_POINTWISE_SUB, KW_POINTWISE_MUL};
  static uint16_t x[PATTERNS], y[PATTERNS], results[PATTERNS], expected[PATTERNS];
  static float wide[PATTERNS], other[PATTERNS], out[PATTERNS];
  for (int i = 0; i < PATTERNS; i++) x[i] = (uint16_t)i;
  for (kw_capability level = KW_CAPABILITY_BASELINE; level < KW_CAPABILITY_COUNT; level++) {
    const kw_isa *isa = &tables[level];
    if (!isa->read[KW_F16][KW_LANE_F32]) continue;
    isa->read[KW_F16][KW_LANE_F32](wide, (char *)x, sizeof *x, PATTERNS);
    for (int pattern = 0; pattern < PATTERNS; pattern += STEP) {
      for (int i = 0; i < PATTERNS; i++) y[i] = (uint16_t)pattern;
      isa->read[KW_F16][KW_LANE_F32](other, (char *)y, sizeof *y, PATTERNS);
      for (size_t f = 0; f < sizeof functions / sizeof *functions; f++) {
        isa->pointwise[functions[f]][KW_LANE_F32](out, (const void *[]){wide, other}, PATTERNS);
        isa->write[KW_F16][KW_LANE_F32]((char *)expected, sizeof *expected, out, PATTERNS);
        isa->pointwise[functions[f]][KW_LANE_F16](results, (const void *[]){x, y}, PATTERNS);
        for (int i = 0; i < PATTERNS; i++) {
          if (results[i] != expected[i] && !isnan(out[i]))
            fail_msg("%x and %x: %x", (unsigned)i, (unsigned)pattern, results[i]);
        }
      }
    }
  }
}

/* Every function may write over its first operand. */
static void functions_work_in_place(void **state) {
  (void)state;
  static double x[KW_POINTWISE_OPERANDS][MOST], apart[MOST], place[MOST];
  uint32_t seed = 2;
  for (int k = 0; k < KW_POINTWISE_OPERANDS; k++) {
    for (int i = 0; i < MOST; i++) x[k][i] = number(&seed);
  }
  for (kw_capability level = 0; level < KW_CAPABILITY_COUNT; level++) {
    for (uint32_t f = 0; f < KW_POINTWISE_FIRST_PREDICATE; f++) {
      const kw_lanes_fn function = tables[level].pointwise[f][KW_LANE_F64];
      if (!function) continue;
      memcpy(place, x[0], sizeof place);
      function(apart, (const void *[]){x[0], x[1], x[2], x[3], x[4], x[5]}, MOST);
      function(place, (const void *[]){place, x[1], x[2], x[3], x[4], x[5]}, MOST);
      assert_memory_equal(place, apart, sizeof apart);
    }
  }
}

static double folded(const kw_fold *fold, const float *x, int64_t n) {
  kw_total total;
  float lane;
  fold->start(&total);
  fold->fold(&total, x, n);
  fold->finish(&lane, &total, 1);
  return (double)lane;
}

static void folds_take_every_lane_once(void **state) {
  (void)state;
  static float x[10000];
  for (kw_capability level = KW_CAPABILITY_BASELINE; level < KW_CAPABILITY_COUNT; level++) {
    const kw_fold *folds[KW_FOLD_COUNT];
    for (int f = 0; f < KW_FOLD_COUNT; f++) folds[f] = &tables[level].folds[f][KW_LANE_F32];
    if (!folds[0]->fold) continue;
    for (int64_t n = 1; n < 10000; n += n < 300 ? 1 : 997) {
      for (int64_t i = 0; i < n; i++) x[i] = 1;
      assert_true(folds[KW_FOLD_SUM] && folded(folds[KW_FOLD_SUM], x, n) == (double)n);
      const int64_t at = n * 7 / 11;
      assert_true(folded(folds[KW_FOLD_ALL], x, n) == 1);
      x[at] = 5;
      assert_true(folded(folds[KW_FOLD_MAX], x, n) == 5);
      assert_true(folded(folds[KW_FOLD_PRODUCT], x, n) == 5);
      x[at] = -5;
      assert_true(folded(folds[KW_FOLD_MIN], x, n) == -5);
      x[at] = NAN;
      for (int f = 0; f < KW_FOLD_ANY; f++) assert_true(isnan(folded(folds[f], x, n)));
      assert_true(folded(folds[KW_FOLD_ALL], x, n) == 1); /* NaN is not 0 */
      x[at] = 0;
      assert_true(folded(folds[KW_FOLD_ALL], x, n) == 0);
      for (int64_t i = 0; i < n; i++) x[i] = 0;
      assert_true(folded(folds[KW_FOLD_ANY], x, n) == 0);
      x[at] = NAN;
      assert_true(folded(folds[KW_FOLD_ANY], x, n) == 1);
    }
  }
}

/* Those that fill vectors, each once: element i is 1 + i % 4. */
static void halves_are_summed_once(void **state) {
  (void)state;
  static uint16_t halves[2][9000];
  static const uint16_t numbers[2][4] = {{0x3c00, 0x4000, 0x4200, 0x4400}, {0x3f80, 0x4000, 0x4040, 0x4080}};
  static const kw_dtype dtypes[2] = {KW_F16, KW_BF16};
  for (int i = 0; i < 2 * 9000; i++) halves[i / 9000][i % 9000] = numbers[i / 9000][i % 9000 % 4];
  for (kw_capability level = KW_CAPABILITY_BASELINE; level < KW_CAPABILITY_COUNT; level++) {
    for (int64_t n = 0; n < 9000; n += n < 600 ? 1 : 997) {
      for (int d = 0; d < 2; d++) {
        if (!tables[level].sum_halves[dtypes[d]]) continue;
        kw_total total = {.f64 = 100};
        const int64_t taken = tables[level].sum_halves[dtypes[d]](&total, (const char *)halves[d], n);
        assert_true(taken <= n && n - taken < 128 && taken % 4 == 0);
        assert_true(total.f64 == 100 + 2.5 * (double)taken);
      }
    }
  }
}

/* Ones behind a number so large that no sum in f32 would keep them. */
static void totals_are_wider_than_lanes(void **state) {
  (void)state;
  static float x[8193];
  for (int i = 0; i < 8193; i++) x[i] = i < 4096 ? 4096 : 1;
  for (kw_capability level = KW_CAPABILITY_BASELINE; level < KW_CAPABILITY_COUNT; level++) {
    const kw_fold *fold = &tables[level].folds[KW_FOLD_SUM][KW_LANE_F32];
    kw_total total;
    if (!fold->fold) continue;
    fold->start(&total);
    fold->fold(&total, x, 8193);
    assert_true(total.f64 == 0x1p24 + 4097);
  }
}

static void rows_fold_by_columns(void **state) {
  (void)state;
  enum { COLUMNS = 77 };
  static float rows[KW_FOLD_ROWS][COLUMNS], into[COLUMNS];
  const void *at[KW_FOLD_ROWS];
  for (kw_capability level = KW_CAPABILITY_BASELINE; level < KW_CAPABILITY_COUNT; level++) {
    const kw_fold *fold = &tables[level].folds[KW_FOLD_SUM][KW_LANE_F32];
    if (!fold->rows) continue;
    for (int k = 0; k < KW_FOLD_ROWS; k++) {
      at[k] = rows[k];
      for (int i = 0; i < COLUMNS; i++) rows[k][i] = (float)((k + 1) * (i + 1));
    }
    for (int i = 0; i < COLUMNS; i++) into[i] = 1000;
    fold->rows(into, at, COLUMNS - 1);
    for (int i = 0; i < COLUMNS - 1; i++) assert_true(into[i] == 1000 + 36 * (float)(i + 1));
    assert_true(into[COLUMNS - 1] == 1000);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(avx512_fp16_computes_with_f16),
      cmocka_unit_test(a_lane_does_not_depend_on_its_place),
      cmocka_unit_test(operands_that_repeat_give_the_same_bits),
      cmocka_unit_test(a_conversion_does_not_depend_on_its_place),
      cmocka_unit_test(narrow_lanes_are_rounded_once),
      cmocka_unit_test(f16_of_every_size_are_rounded_once),
      cmocka_unit_test(functions_work_in_place),
      cmocka_unit_test(folds_take_every_lane_once),
      cmocka_unit_test(halves_are_summed_once),
      cmocka_unit_test(totals_are_wider_than_lanes),
      cmocka_unit_test(rows_fold_by_columns),
  };
  return cmocka_run_group_tests(tests, fill_tables, NULL);
}
