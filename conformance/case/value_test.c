/* SPDX-License-Identifier: Apache-2.0
 *
 * Numbers, input values, ops and cases.
 */
#include "case/make.h"
#include "case/parts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Elements ---------------------------------------------------------------------------------------------------- */

static uint32_t bits_of(kw_dtype dtype, double value) {
  uint32_t bits = 0;
  kw_element_store(dtype, &bits, value);
  return bits;
}

static void stores_known_bits(void **state) {
  (void)state;
  assert_int_equal(bits_of(KW_F16, 1.0), 0x3c00);
  assert_int_equal(bits_of(KW_F16, -2.0), 0xc000);
  assert_int_equal(bits_of(KW_F16, 65504.0), 0x7bff);
  assert_int_equal(bits_of(KW_F16, 65519.0), 0x7bff);
  assert_int_equal(bits_of(KW_F16, 65520.0), 0x7c00); /* the tie goes to even, which is infinity */
  assert_int_equal(bits_of(KW_F16, 0x1p-24), 0x0001);
  assert_int_equal(bits_of(KW_F16, 0x1p-25), 0x0000); /* a tie to even */
  assert_int_equal(bits_of(KW_F16, 0x1.8p-25), 0x0001);
  assert_int_equal(bits_of(KW_F16, 2049.0), bits_of(KW_F16, 2048.0));
  assert_int_equal(bits_of(KW_F16, 2051.0), bits_of(KW_F16, 2052.0));
  assert_int_equal(bits_of(KW_BF16, 1.0), 0x3f80);
  assert_int_equal(bits_of(KW_BF16, 0x1.01p0), 0x3f80); /* tie to even */
  assert_int_equal(bits_of(KW_BF16, 0x1.03p0), 0x3f82);
  assert_int_equal(bits_of(KW_F8E4M3FN, 448.0), 0x7e);
  assert_int_equal(bits_of(KW_F8E4M3FN, 464.0), 0x7e);
  assert_int_equal(bits_of(KW_F8E4M3FN, 465.0), 0x7f);
  assert_int_equal(bits_of(KW_F8E5M2, 57344.0), 0x7b);
  assert_int_equal(bits_of(KW_F8E5M2, 65536.0), 0x7c);
  assert_int_equal(bits_of(KW_U8, 300.0), 255);
  assert_int_equal(bits_of(KW_U8, -3.0), 0);
  assert_int_equal(bits_of(KW_I8, -200.0) & 0xff, 0x80);
  assert_int_equal(bits_of(KW_I32, NAN), 0);
  assert_int_equal(bits_of(KW_I32, 1e30), INT32_MAX);
  assert_int_equal(bits_of(KW_BOOL, NAN), 1);
}

/* Every bit pattern of the small formats survives load and store. */
static void round_trips_all_bits(void **state) {
  (void)state;
  static const kw_dtype dtypes[] = {KW_F16, KW_BF16, KW_F8E4M3FN, KW_F8E5M2};
  for (size_t i = 0; i < sizeof dtypes / sizeof dtypes[0]; i++) {
    uint32_t count = 1u << (8 * kw_element_size(dtypes[i]));
    for (uint32_t bits = 0; bits < count; bits++) {
      double value = kw_element_load(dtypes[i], &bits);
      if (isnan(value)) continue;
      assert_int_equal(bits_of(dtypes[i], value), bits);
    }
  }
}

static void rounds_with_low_part(void **state) {
  (void)state;
  double tie = 1.0 + 0x1p-11; /* between 1 and the next f16 */
  assert_true(kw_element_round(KW_F16, (kw_wide){tie, 0}) == 1.0);
  assert_true(kw_element_round(KW_F16, (kw_wide){tie, 0x1p-70}) == 1.0 + 0x1p-10);
  assert_true(kw_element_round(KW_F16, (kw_wide){tie, -0x1p-70}) == 1.0);
  assert_true(kw_element_round(KW_F16, (kw_wide){-tie, -0x1p-70}) == -1.0 - 0x1p-10);
  assert_true(kw_element_round(KW_F32, (kw_wide){1e300, 0}) == (double)INFINITY);
}

static void spacing_at_edges(void **state) {
  (void)state;
  kw_float_format f32 = kw_element_format(KW_F32);
  assert_true(kw_element_spacing(f32, (kw_wide){1.5, 0}) == 0x1p-23);
  assert_true(kw_element_spacing(f32, (kw_wide){1.0, 0}) == 0x1p-24); /* a power of two belongs below */
  assert_true(kw_element_spacing(f32, (kw_wide){1.0, 0x1p-60}) == 0x1p-23);
  assert_true(kw_element_spacing(f32, (kw_wide){1.0, -0x1p-60}) == 0x1p-24);
  assert_true(kw_element_spacing(f32, (kw_wide){-2.0, 0}) == 0x1p-23);
  assert_true(kw_element_spacing(f32, (kw_wide){0x1p-140, 0}) == 0x1p-149);
  assert_true(kw_element_spacing(f32, (kw_wide){0, 0}) == 0x1p-149);
}

static void converts(void **state) {
  (void)state;
  int64_t big = (INT64_C(1) << 62) + (INT64_C(1) << 38) + 1; /* a tie in f32 but for the last bit */
  float f;
  kw_element_convert(KW_F32, &f, KW_I64, &big);
  assert_true(f == 0x1p62f + 0x1p39f);
  int8_t small;
  int32_t wide = 0x1ff;
  kw_element_convert(KW_I8, &small, KW_I32, &wide);
  assert_int_equal(small, -1);
  uint8_t flag;
  wide = 0x100;
  kw_element_convert(KW_BOOL, &flag, KW_I32, &wide);
  assert_int_equal(flag, 1);
}

/* ---- Values ------------------------------------------------------------------------------------------------------ */

/* The known answers of the authors' own test (Random123, kat_vectors). */
static void domains_keep_their_ranges(void **state) {
  (void)state;
  bool halves_seen = false;
  for (uint64_t i = 0; i < 2000; i++) {
    kw_value_key key = {.seed = 5, .extent = 2000, .domain = KW_DOMAIN_UNIT};
    double x;
    float f;
    int64_t n;
    kw_value_make(&key, KW_F64, i, &x);
    assert_true(fabs(x) <= 1);
    key.domain = KW_DOMAIN_ANY;
    kw_value_make(&key, KW_F32, i, &f);
    assert_true(fabsf(f) >= 0x1p-6f && fabsf(f) <= 0x1p6f);
    key.domain = KW_DOMAIN_PROBABILITY;
    kw_value_make(&key, KW_F64, i, &x);
    assert_true(x >= 0 && x <= 1);
    key.domain = KW_DOMAIN_OFFSET;
    kw_value_make(&key, KW_F32, i, &f);
    assert_true(f >= 9999 && f <= 10001);
    uint16_t half;
    kw_value_make(&key, KW_F16, i, &half);
    assert_true(kw_element_load(KW_F16, &half) >= 511 && kw_element_load(KW_F16, &half) <= 513);
    halves_seen |= half != 0x6000; /* 512 */
    key.domain = KW_DOMAIN_HUGE;
    kw_value_make(&key, KW_F32, i, &f);
    assert_true(fabsf(f) >= 0x1p53f && f * f < 0x1p115f);
    key.domain = KW_DOMAIN_TINY;
    kw_value_make(&key, KW_F32, i, &f);
    assert_true(fabsf(f) <= 0x1p-57f && f * f >= 0x1p-122f);
    key.domain = KW_DOMAIN_NONZERO;
    kw_value_make(&key, KW_I64, i, &n);
    assert_true(n != 0);
    key.domain = KW_DOMAIN_SMALL;
    kw_value_make(&key, KW_F64, i, &x);
    assert_true(x == floor(x) && fabs(x) <= 8);
    key.domain = KW_DOMAIN_POWER_BASE;
    kw_value_make(&key, KW_F64, i, &x);
    assert_true(x >= 0.125 && x <= 8);
    key.domain = KW_DOMAIN_FACTOR;
    kw_value_make(&key, KW_F64, i, &x);
    kw_value_make(&key, KW_I64, i, &n);
    assert_true(fabs(x) > 0.91 && fabs(x) < 1.1 && (n & 1));
    key.domain = KW_DOMAIN_EXACT_FACTOR;
    kw_value_make(&key, KW_F64, i, &x);
    assert_true(fabs(x) == 0.5 || fabs(x) == 1 || fabs(x) == 2);
  }
  assert_true(halves_seen);
}

/* Row 2 of masks of 193 keys hides the first 64, row 7 all; of the lowest numbers none is infinite but where it says.
 */
static void masks_hide_whole_blocks(void **state) {
  (void)state;
  enum { KEYS = 193, HIDDEN = 64 };
  kw_value_key key = {.seed = 5, .extent = 8 * KEYS, .domain = KW_DOMAIN_BLOCKS, .stride = KEYS};
  uint32_t seen = 0;
  for (uint64_t j = 0; j < KEYS; j++) {
    uint8_t bit;
    float number, last;
    kw_value_make(&key, KW_BOOL, 2 * KEYS + j, &bit);
    kw_value_make(&key, KW_F32, 2 * KEYS + j, &number);
    kw_value_make(&key, KW_F32, 7 * KEYS + j, &last);
    if (j < HIDDEN) assert_true(!bit && number == -INFINITY);
    seen += bit && fabsf(number) <= 1;
    assert_true(last == -INFINITY);
  }
  assert_true(seen > HIDDEN / 2);
  key.domain = KW_DOMAIN_LOWEST;
  for (uint64_t i = 0; i < 4 * KEYS; i++) {
    const bool first_half = i % KEYS < KEYS / 2;
    float number;
    uint16_t half;
    kw_value_make(&key, KW_F32, i, &number);
    kw_value_make(&key, KW_F16, i, &half);
    const double low = kw_element_load(KW_F16, &half);
    assert_true(i / KEYS == 1 && first_half    ? number == -INFINITY && low == -INFINITY
                : i / KEYS == 2 && !first_half ? number == 0 && low == 0
                                               : number <= -1e30f && isfinite(number) && low == -65504);
  }
}

static void sparse_values_are_rare(void **state) {
  (void)state;
  const kw_value_key key = {.seed = 5, .extent = 2000, .domain = KW_DOMAIN_SPARSE, .stride = 20};
  uint32_t ones = 0, numbers = 0, negative_zeros = 0;
  for (uint64_t i = 0; i < 2000; i++) {
    double x;
    uint64_t n;
    kw_value_make(&key, KW_F64, i, &x);
    kw_value_make(&key, KW_I64, i, &n);
    numbers += x != 0;
    ones += n != 0;
    negative_zeros += x == 0 && signbit(x);
    assert_true(n == 0 || (n & (n - 1)) == 0);
    assert_true((x != 0) == (n != 0));
  }
  assert_in_range(ones, 60, 140);
  assert_in_range(numbers, 60, 140);
  assert_in_range(negative_zeros, 800, 1100);
}

static void indices_stay_below_their_limit(void **state) {
  (void)state;
  kw_value_key key = {.seed = 3, .extent = 1000, .domain = KW_DOMAIN_INDEX, .limit = 11};
  int seen[11] = {0}, negative = 0;
  for (uint64_t i = 0; i < 1000; i++) {
    int64_t index;
    int32_t narrow;
    key.from_end = false;
    kw_value_make(&key, KW_I64, i, &index);
    kw_value_make(&key, KW_I32, i, &narrow);
    assert_in_range(index, 0, 10);
    assert_int_equal(index, narrow);
    seen[index]++;
    key.from_end = true;
    kw_value_make(&key, KW_I64, i, &index);
    assert_in_range(index + 11, 0, 21);
    negative += index < 0;
  }
  for (int i = 0; i < 11; i++) assert_in_range(seen[i], 50, 150);
  assert_in_range(negative, 400, 600);
}

/* Along a dimension of stride 3, each index once in `limit` neighbours and at most twice in twice as many. */
static void spread_indices_do_not_repeat(void **state) {
  (void)state;
  for (int64_t limit = 1; limit < 40; limit++) {
    kw_value_key key = {.seed = 3, .case_hash = (uint64_t)limit, .extent = 1000, .domain = KW_DOMAIN_SPREAD};
    key.stride = 3;
    key.limit = limit;
    key.from_end = limit % 2;
    int seen[40] = {0};
    for (int64_t i = 0; i < 2 * limit; i++) {
      int64_t index;
      kw_value_make(&key, KW_I64, (uint64_t)(7 + 3 * i), &index);
      if (index < 0) index += limit;
      assert_in_range(index, 0, limit - 1);
      assert_int_equal(seen[index]++, i < limit ? 0 : 1);
    }
  }
}

static double ascending_at(const kw_value_key *key, kw_dtype dtype, int64_t i) {
  uint64_t element = 0;
  kw_value_make(key, dtype, (uint64_t)i, &element);
  const double value = kw_element_load(dtype, &element);
  return isnan(value) ? INFINITY : value; /* behind infinity */
}

/* As they lie, and where they are turned, by the indices that turn them back. */
static void ascending_values_ascend(void **state) {
  (void)state;
  static const kw_dtype dtypes[] = {KW_U8, KW_I8, KW_I16, KW_I32, KW_I64, KW_F16, KW_BF16, KW_F32, KW_F64};
  for (size_t d = 0; d < sizeof dtypes / sizeof dtypes[0]; d++) {
    for (int64_t limit = 1; limit < 300; limit++) {
      kw_value_key key = {.seed = 4, .case_hash = (uint64_t)limit, .domain = KW_DOMAIN_ASCENDING, .extent = 1000};
      kw_value_key turned = key, turn = key;
      turned.limit = turn.limit = limit;
      turned.stride = turn.stride = 3;
      turn.domain = KW_DOMAIN_TURN;
      int64_t before = 0, place;
      for (int64_t i = 0; i < limit; i++) {
        kw_value_make(&turn, KW_I64, (uint64_t)(3 * i + 2), &place);
        assert_in_range(place, 0, limit - 1);
        if (i > 0) assert_true(ascending_at(&key, dtypes[d], i - 1) <= ascending_at(&key, dtypes[d], i));
        if (i > 0)
          assert_true(ascending_at(&turned, dtypes[d], 3 * before) <= ascending_at(&turned, dtypes[d], 3 * place));
        before = place;
      }
    }
  }
}

/* Sources for conversions tell a conversion that rounds twice, by way of another float, from one that rounds once. */
static void conversions_round_once(void **state) {
  (void)state;
  static const struct {
    kw_dtype from, by, to;
  } pairs[] = {{KW_F64, KW_F32, KW_F16},  {KW_F64, KW_F32, KW_BF16}, {KW_F64, KW_F32, KW_F8E5M2},
               {KW_I64, KW_F32, KW_BF16}, {KW_I32, KW_F32, KW_BF16}, {KW_I64, KW_F64, KW_F32}};
  for (size_t p = 0; p < sizeof pairs / sizeof pairs[0]; p++) {
    kw_value_key key = {.seed = 9, .extent = 209, .domain = KW_DOMAIN_CONVERT, .target = pairs[p].to};
    int differ = 0;
    for (uint64_t i = 0; i < 209; i++) {
      _Alignas(8) char source[8];
      uint32_t once = 0, twice = 0;
      double between;
      kw_value_make(&key, pairs[p].from, i, source);
      kw_element_convert(pairs[p].to, &once, pairs[p].from, source);
      kw_element_convert(pairs[p].by, &between, pairs[p].from, source);
      kw_element_convert(pairs[p].to, &twice, pairs[p].by, &between);
      differ += once != twice;
    }
    assert_true(differ >= 5);
  }
}

/* A complex number is true where either part is not zero: all four ways come up. */
static void conversions_meet_complex_zeros(void **state) {
  (void)state;
  kw_value_key key = {.seed = 9, .extent = 64, .domain = KW_DOMAIN_CONVERT, .target = KW_BOOL};
  bool seen[2][2] = {{false}};
  for (uint64_t i = 0; i < key.extent; i++) {
    float parts[2];
    kw_value_make(&key, KW_C64, i, parts);
    seen[parts[0] != 0][parts[1] != 0] = true;
  }
  assert_true(seen[0][0] && seen[0][1] && seen[1][0] && seen[1][1]);
}

static void complex_parts_convert(void **state) {
  (void)state;
  float two = 2, single[2] = {1.5f, -3};
  double wide[2];
  kw_element_convert(KW_C128, wide, KW_F32, &two);
  assert_true(wide[0] == 2 && wide[1] == 0);
  kw_element_convert(KW_C128, wide, KW_C64, single);
  assert_true(wide[0] == 1.5 && wide[1] == -3);
}

static void special_values_are_what_they_say(void **state) {
  (void)state;
  static const kw_dtype dtypes[] = {KW_F16, KW_BF16, KW_F32, KW_F64};
  for (size_t d = 0; d < 4; d++) {
    uint32_t count = kw_value_special_count(dtypes[d]), nans = 0, infs = 0, subnormals = 0, zeros = 0;
    double max = 0;
    for (uint32_t i = 0; i < count; i++) {
      kw_value_key key = {.domain = KW_DOMAIN_SPECIAL_RAW, .extent = count};
      uint64_t element = 0;
      kw_value_make(&key, dtypes[d], i, &element);
      double value = kw_element_load(dtypes[d], &element);
      nans += isnan(value) != 0;
      infs += isinf(value) != 0;
      zeros += value == 0;
      subnormals += kw_element_is_subnormal(dtypes[d], &element);
      if (isfinite(value) && value > max) max = value;
    }
    assert_int_equal(nans, 4);
    assert_int_equal(infs, 2);
    assert_int_equal(zeros, 2);
    assert_int_equal(subnormals, 3);
    assert_true(max == kw_element_format(dtypes[d]).max);
  }
}

/* ---- Ops and cases ----------------------------------------------------------------------------------------------- */

static void ops_are_what_libkeyway_says(void **state) {
  (void)state;
  kw_suite_op op;
  assert_true(kw_suite_op_take(kw_op_find("sum.dim_IntList"), &op));
  assert_string_equal(op.name, "sum.dim_IntList");
  assert_string_equal(op.base, "sum");
  assert_int_equal(op.arg_count, 4);
  assert_int_equal(op.result_count, 1);
  assert_int_equal(op.args[1].tag, KW_TAG_INT_LIST);
  assert_true(op.args[1].optional);
  assert_false(op.args[1].has_default);
  assert_false(op.in_place);
  assert_int_equal(op.args[3].tag, KW_TAG_DTYPE);
  assert_true(kw_suite_op_take(kw_op_find("fill_.Scalar"), &op));
  assert_true(op.in_place && op.args[0].mutated && !op.args[1].mutated);
  assert_true(kw_suite_op_take(kw_op_find("add.Tensor"), &op));
  assert_int_equal(kw_suite_arg_default(&op.args[2]).u.i, 1);
  assert_true(kw_suite_op_take(kw_op_find("gelu"), &op));
  kw_suite_op moved = op; /* as between two processes */
  assert_null(op.args[1].default_value.u.s);
  memset(&op, 0, sizeof op);
  assert_string_equal(kw_suite_arg_default(&moved.args[1]).u.s, "none");
  assert_true(kw_suite_op_take(kw_op_find("max_pool2d_with_indices"), &op));
  moved = op;
  memset(&op, 0, sizeof op);
  assert_int_equal(kw_suite_arg_default(&moved.args[2]).count, 0);
  assert_int_equal(kw_suite_arg_default(&moved.args[4]).count, 2);
  assert_int_equal(kw_suite_arg_default(&moved.args[4]).u.ints[1], 1);
  assert_false(kw_suite_op_take(NULL, &op));
}

/* kw_suite_ops pairs the table's rows with libkeyway's ops by their place. */
static void rows_are_of_their_ops(void **state) {
  (void)state;
  uint32_t count;
  const kw_suite_op *ops = kw_suite_ops(&count);
  assert_int_equal(count, kw_op_table_count);
  for (uint32_t i = 0; i < count; i++) {
    size_t length = strlen(ops[i].name);
    assert_memory_equal(ops[i].row.schema, ops[i].name, length);
    assert_int_equal(ops[i].row.schema[length], '(');
  }
}

static void layouts_have_these_strides(void **state) {
  (void)state;
  static const struct {
    kw_layout layout;
    int64_t strides[2], offset;
    uint64_t extent;
  } rows[] = {
      {KW_LAYOUT_DENSE, {5, 1}, 0, 15},      {KW_LAYOUT_TRANSPOSED, {1, 3}, 0, 15},
      {KW_LAYOUT_ROTATED, {1, 3}, 0, 15},    {KW_LAYOUT_STEPPED, {30, 3}, 16, 89},
      {KW_LAYOUT_INNER, {10, 1}, 13, 38},    {KW_LAYOUT_EXPAND_FIRST, {0, 1}, 0, 5},
      {KW_LAYOUT_EXPAND_LAST, {1, 0}, 0, 3}, {KW_LAYOUT_EXPAND_ALL, {0, 0}, 0, 1},
      {KW_LAYOUT_PITCHED, {1, 6}, 19, 46},
  };
  kw_shape shape = {2, {3, 5}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    kw_case_tensor t;
    kw_case_layout(&t, &shape, rows[i].layout);
    assert_int_equal(t.numel, 15);
    assert_memory_equal(t.strides, rows[i].strides, sizeof rows[i].strides);
    assert_int_equal(t.offset, rows[i].offset);
    assert_int_equal(t.extent, rows[i].extent);
    kw_case_walk walk = kw_case_walk_start(&t);
    for (int64_t k = 0; k < t.numel; k++, kw_case_walk_next(&walk)) assert_int_equal(walk.at, kw_case_tensor_at(&t, k));
  }
}

static void keys_follow_the_result_rule(void **state) {
  (void)state;
  uint32_t count;
  const kw_suite_op *ops = kw_suite_ops(&count);
  for (uint32_t i = 0; i < count; i++) {
    if (strcmp(ops[i].name, "sqrt") == 0) assert_true(kw_suite_op_keys(&ops[i]) == KW_DTYPES_FLOAT);
    if (strcmp(ops[i].name, "sum") == 0) assert_true(kw_suite_op_keys(&ops[i]) == KW_DTYPES_NUM);
    if (strcmp(ops[i].name, "eq.Tensor") == 0) assert_true(kw_suite_op_keys(&ops[i]) == KW_DTYPES_REAL);
  }
}

static int compare_text(const void *a, const void *b) {
  return strcmp(*(char *const *)a, *(char *const *)b);
}

static void lists_have_entries_of_their_own(void **state) {
  (void)state;
  uint32_t count;
  kw_case c;
  assert_true(kw_case_from_id("add.Tensor/f32/one/0", kw_suite_ops(&count), kw_op_table_count, &c));
  kw_shape shape = {2, {3, 5}};
  uint32_t a = kw_case_set_list(&c, 0, 3), b = kw_case_set_list(&c, 2, 2);
  kw_case_set_entry(&c, 0, a + 2, KW_I32, &shape, KW_LAYOUT_TRANSPOSED);
  assert_int_equal(b, a + 3);
  assert_int_equal(c.arg_count, 3);
  assert_int_equal(kw_case_arg_value(&c, 0).count, 3);
  assert_false(c.tensors[a].given || c.tensors[a + 1].given || c.tensors[b].given);
  assert_true(c.tensors[a + 2].given && c.tensors[a + 2].numel == 15);
  kw_case_set_indices(&c, a + 2, 7, true, true, 3);
  kw_value_key key = kw_case_value_key(&c, a + 2, 1, 0);
  assert_true(key.arg == 16 + 2 && key.limit == 7 && key.from_end && key.stride == 3 && key.extent == 15);
  char name[40];
  kw_case_tensor_name(&c, b + 1, name, sizeof name);
  assert_string_equal(name, "entry 1 of input 2");
  kw_case_tensor_name(&c, 1, name, sizeof name);
  assert_string_equal(name, "input 1");
}

/* The blocks of a call start, among others, just below 2^32 and just below 2^64, so that they run past. */
static void random_blocks_carry(void **state) {
  (void)state;
  kw_suite_op op = {.name = "rand", .arg_count = 2, .result_count = 1};
  kw_case c = {.op = &op, .hash = 77, .outs = {{.given = true, .numel = 41}}};
  kw_rng rng = kw_case_rng(&c, 1, 0);
  assert_true(kw_case_rng_blocks(&c) == 0 && rng.seed == 0 && rng.offset == 0); /* not a random op */
  op.args[1].tag = KW_TAG_GENERATOR;
  assert_int_equal(kw_suite_op_generator(&op), 1);
  assert_true(kw_case_rng_blocks(&c) == 11);
  int carries = 0, wraps = 0;
  for (c.number = 0; c.number < 4; c.number++) {
    rng = kw_case_rng(&c, 1, 0);
    assert_true(rng.seed != 0 && rng.seed == kw_case_rng(&c, 1, 0).seed && rng.seed != kw_case_rng(&c, 2, 0).seed);
    assert_true(rng.offset != kw_case_rng(&c, 1, 1).offset);
    carries += rng.offset < UINT64_C(1) << 32 && rng.offset + 10 >= UINT64_C(1) << 32;
    wraps += rng.offset + 10 < rng.offset;
  }
  assert_int_equal(carries, 1);
  assert_int_equal(wraps, 1);
}

/* Walks all cases of the table: ids are unique and lead back to the same case; layouts stay inside their storage. */
static void all_cases_are_sound(void **state) {
  enum { MOST_NUMBERS = 2048 };
  (void)state;
  uint32_t op_count, count = 0, room = 1 << 18;
  const kw_suite_op *ops = kw_suite_ops(&op_count);
  char **ids = calloc(room, sizeof *ids);
  for (uint32_t o = 0; o < op_count; o++) {
    for (kw_dtype d = 0; d < KW_KEY_DTYPE_COUNT; d++) {
      uint32_t of_op = 0;
      for (int class = 0; class < KW_CLASS_COUNT; class ++) {
        kw_case c, again;
        for (uint32_t n = 0; kw_case_make(&ops[o], d, (kw_case_class) class, n, &c); n++) {
          if (count == room || n >= MOST_NUMBERS) fail_msg("%s: more cases than there may be", c.id);
          ids[count++] = strdup(c.id);
          of_op++;
          assert_true(kw_case_from_id(c.id, ops, op_count, &again));
          assert_true(again.hash == c.hash && again.outs[0].numel == c.outs[0].numel && again.arg_count == c.arg_count);
          for (uint32_t i = 0; i < KW_CASE_TENSORS; i++) {
            const kw_case_tensor *t = &c.tensors[i];
            if (!t->given || t->numel == 0) continue;
            bool indices = t->domain == KW_DOMAIN_INDEX || t->domain == KW_DOMAIN_SPREAD;
            if (indices) assert_true(t->limit > 0 && kw_element_is_integer(t->dtype)); /* there is something to index */
            assert_in_range(kw_case_tensor_at(t, 0), 0, t->extent - 1);
            assert_in_range(kw_case_tensor_at(t, t->numel - 1), 0, t->extent - 1);
          }
        }
      }
      bool defined = kw_suite_op_keys(&ops[o]) & KW_DTYPE_BIT(d);
      assert_true(defined ? of_op >= 14 : of_op == 0);
    }
  }
  qsort(ids, count, sizeof *ids, compare_text);
  for (uint32_t i = 1; i < count; i++) assert_string_not_equal(ids[i - 1], ids[i]);
  for (uint32_t i = 0; i < count; i++) free(ids[i]);
  free(ids);
  assert_true(count > 20000);
}

/* Values of a case are keyed by this number: it may never change. */
static void case_hash_is_stable(void **state) {
  (void)state;
  assert_true(kw_hash(KW_HASH_START, "") == UINT64_C(0xcbf29ce484222325));
  assert_true(kw_hash(KW_HASH_START, "a") == UINT64_C(0xaf63dc4c8601ec8c));
  uint32_t op_count;
  const kw_suite_op *ops = kw_suite_ops(&op_count);
  kw_case c;
  assert_true(kw_case_from_id("add.Tensor/f32/broadcast/4", ops, op_count, &c));
  assert_int_equal(c.outs[0].rank, 4);
  assert_int_equal(c.outs[0].numel, 2 * 4 * 3 * 5);
  assert_false(kw_case_from_id("add.Tensor/f32/broadcast/400", ops, op_count, &c));
  assert_false(kw_case_from_id("add.Tensor/f99/broadcast/1", ops, op_count, &c));
  assert_false(kw_case_from_id("add.Tensor/f32/broadcast/", ops, op_count, &c));
  assert_false(kw_case_from_id("add.Tensor", ops, op_count, &c));
}

/* ---- Shrunken cases ---------------------------------------------------------------------------------------------- */

/* Every tensor lies in its storage, and its number of elements is that of its shape. */
static void assert_tensor_sound(const kw_case *c, const kw_case_tensor *tensor) {
  if (!tensor->given) return;
  int64_t numel = 1;
  for (uint32_t d = 0; d < tensor->rank; d++) numel *= tensor->shape[d];
  if (tensor->numel != numel) fail_msg("%s: numel", c->id);
  if (numel == 0) return;
  int64_t last = tensor->offset;
  for (uint32_t d = 0; d < tensor->rank; d++) last += (tensor->shape[d] - 1) * tensor->strides[d];
  if (last < 0 || (uint64_t)last >= tensor->extent) fail_msg("%s: outside its storage", c->id);
}

/* Inputs are smaller; where a window had to be cut to fit, its results, and their gradients, may be larger. */
static void assert_shrinks_to(const kw_case *c, const kw_shape *sizes) {
  kw_case small, again;
  if (!kw_case_shrink(c, sizes, &small)) fail_msg("%s does not shrink", c->id);
  if (!kw_case_from_id(small.id, c->op, 1, &again)) fail_msg("%s is no id", small.id);
  assert_string_equal(small.id, again.id);
  assert_int_equal(small.hash, again.hash);
  assert_true(strncmp(small.id, c->id, strlen(c->id)) == 0 && small.id[strlen(c->id)] == '@');
  assert_int_not_equal(small.hash, c->hash);
  assert_memory_equal(&small.sizes, sizes, sizeof *sizes);
  for (uint32_t i = 0; i < KW_CASE_TENSORS; i++) {
    assert_int_equal(small.tensors[i].given, c->tensors[i].given);
    assert_int_equal(small.tensors[i].dtype, c->tensors[i].dtype);
    assert_int_equal(small.tensors[i].rank, c->tensors[i].rank);
    const bool windows = strstr(c->op->name, "convolution") || strstr(c->op->name, "col");
    if (!windows && small.tensors[i].numel > c->tensors[i].numel) fail_msg("input %u of %s is larger", i, small.id);
    assert_int_equal(small.tensors[i].numel, again.tensors[i].numel);
    assert_int_equal(small.tensors[i].extent, again.tensors[i].extent);
    assert_tensor_sound(&small, &small.tensors[i]);
  }
  for (uint32_t r = 0; r < c->result_count && !c->op->vendor; r++) {
    assert_int_equal(small.outs[r].rank, c->outs[r].rank);
    assert_tensor_sound(&small, &small.outs[r]);
  }
}

static void cases_shrink(void **state) {
  (void)state;
  uint32_t count, resizable = 0;
  const kw_suite_op *ops = kw_suite_ops(&count);
  for (uint32_t i = 0; i < count; i++) {
    for (int class = 0; class < KW_CLASS_COUNT; class ++) {
      kw_case c;
      for (uint32_t n = 0; kw_case_make(&ops[i], KW_F32, (kw_case_class) class, n, &c); n++) {
        assert_false(c.shrunk);
        if (!c.resizable || c.sizes.rank == 0) continue;
        resizable++;
        kw_shape half = c.sizes, least = c.sizes;
        for (uint32_t d = 0; d < c.sizes.rank; d++) {
          half.dims[d] = (c.sizes.dims[d] + 1) / 2;
          least.dims[d] = c.sizes.dims[d] > 0;
        }
        assert_shrinks_to(&c, &half);
        assert_shrinks_to(&c, &least);
      }
    }
  }
  assert_true(resizable > 1000);
}

static void shrunken_ids(void **state) {
  (void)state;
  static const struct {
    const char *id;
    bool good;
  } ids[] = {{"add.Tensor/f32/prime/2@13x5", true},     {"add.Tensor/f32/prime/2@1x5", true},
             {"add.Tensor/f32/broadcast/0@2x3", true},  {"mm/f32/prime/0@1x2x3", true},
             {"sum.dim_IntList/f32/prime/2@2x1", true}, {"add.Tensor/f32/prime/2@14x5", false},
             {"add.Tensor/f32/prime/2@13", false},      {"add.Tensor/f32/prime/2@13x5x1", false},
             {"add.Tensor/f32/prime/2@0x5", false},     {"add.Tensor/f32/prime/2@x5", false},
             {"add.Tensor/f32/prime/2@13x", false},     {"add.Tensor/f32/prime/2@-1x5", false},
             {"add.Tensor/f32/prime/2@", false},        {"add.Tensor/f32/prime/2@99999999999999999999x1", false},
             {"add.Tensor/f32/prime/2 @1x1", false},    {"add.Tensor/f32/scalar/0@1", false},
             {"mm/f32/aliasing/0@2x2x2", false}};
  uint32_t count;
  const kw_suite_op *ops = kw_suite_ops(&count);
  for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++) {
    kw_case c;
    if (kw_case_from_id(ids[i].id, ops, count, &c) != ids[i].good) fail_msg("%s", ids[i].id);
  }
  kw_case c;
  assert_true(kw_case_from_id("add.Tensor/f32/broadcast/0@2x3", ops, count, &c)); /* [5, 1] and [1, 7] in full */
  assert_int_equal(c.tensors[0].shape[0], 2);
  assert_int_equal(c.tensors[0].shape[1], 1);
  assert_int_equal(c.tensors[1].shape[0], 1);
  assert_int_equal(c.tensors[1].shape[1], 3);
  assert_int_equal(c.outs[0].numel, 6);
  assert_true(kw_case_from_id("mm/f32/prime/0@1x2x3", ops, count, &c));
  assert_int_equal(c.tensors[0].shape[1], 2);
  assert_int_equal(c.tensors[1].shape[1], 3);
  assert_int_equal(c.terms, 2);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(stores_known_bits),
      cmocka_unit_test(round_trips_all_bits),
      cmocka_unit_test(rounds_with_low_part),
      cmocka_unit_test(spacing_at_edges),
      cmocka_unit_test(converts),
      cmocka_unit_test(domains_keep_their_ranges),
      cmocka_unit_test(masks_hide_whole_blocks),
      cmocka_unit_test(sparse_values_are_rare),
      cmocka_unit_test(indices_stay_below_their_limit),
      cmocka_unit_test(spread_indices_do_not_repeat),
      cmocka_unit_test(ascending_values_ascend),
      cmocka_unit_test(conversions_round_once),
      cmocka_unit_test(complex_parts_convert),
      cmocka_unit_test(special_values_are_what_they_say),
      cmocka_unit_test(ops_are_what_libkeyway_says),
      cmocka_unit_test(rows_are_of_their_ops),
      cmocka_unit_test(layouts_have_these_strides),
      cmocka_unit_test(keys_follow_the_result_rule),
      cmocka_unit_test(lists_have_entries_of_their_own),
      cmocka_unit_test(conversions_meet_complex_zeros),
      cmocka_unit_test(random_blocks_carry),
      cmocka_unit_test(all_cases_are_sound),
      cmocka_unit_test(case_hash_is_stable),
      cmocka_unit_test(cases_shrink),
      cmocka_unit_test(shrunken_ids),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
