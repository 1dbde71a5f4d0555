/* SPDX-License-Identifier: Apache-2.0
 *
 * Tests of the conversions of each instruction set against the reference's, one element at a time.
 */
#include "test_fast.h"

#include "number.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#define ROW 67 /* elements at a time: whole vectors and some left */

static const kw_dtype lane_dtypes[KW_LANE_COUNT] = {
    [KW_LANE_F32] = KW_F32, [KW_LANE_F64] = KW_F64, [KW_LANE_I32] = KW_I32,  [KW_LANE_I64] = KW_I64,
    [KW_LANE_BYTE] = KW_U8, [KW_LANE_F16] = KW_F16, [KW_LANE_BF16] = KW_BF16};

/* The same bits, but any NaN for a NaN. */
static bool same(kw_dtype dtype, const void *a, const void *b) {
  if (memcmp(a, b, kw_number_size(dtype)) == 0) return true;
  return kw_number_is_float(dtype) && isnan(kw_number_load(dtype, a)) && isnan(kw_number_load(dtype, b));
}

/* n elements, `spread` times their size apart, read into lanes. */
static void check_read(const kw_isa *isa, kw_dtype dtype, kw_lane lane, const char *elements, int64_t n) {
  const int64_t size = (int64_t)kw_number_size(dtype), lane_size = (int64_t)kw_number_size(lane_dtypes[lane]);
  char spread[3 * 8 * ROW], lanes[8 * ROW], expected[8];
  for (int64_t apart = 1; apart <= 3; apart += 2) {
    for (int64_t i = 0; i < n; i++) memcpy(spread + i * apart * size, elements + i * size, (size_t)size);
    isa->read[dtype][lane](lanes, spread, apart * size, n);
    for (int64_t i = 0; i < n; i++) {
      kw_number_convert(dtype, elements + i * size, lane_dtypes[lane], expected);
      if (same(lane_dtypes[lane], lanes + i * lane_size, expected)) continue;
      fail_msg("dtype %d, lane %d, element %lld, %lld apart", dtype, lane, (long long)i, (long long)apart);
    }
  }
}

/* n lanes written as elements, `apart` times their size apart. */
static void check_write(const kw_isa *isa, kw_dtype dtype, kw_lane lane, const void *lanes, int64_t n) {
  const int64_t size = (int64_t)kw_number_size(dtype), lane_size = (int64_t)kw_number_size(lane_dtypes[lane]);
  char elements[3 * 8 * ROW], expected[8];
  for (int64_t apart = 1; apart <= 3; apart += 2) {
    isa->write[dtype][lane](elements, apart * size, lanes, n);
    for (int64_t i = 0; i < n; i++) {
      const char *from = (const char *)lanes + i * lane_size;
      kw_number_convert(lane_dtypes[lane], from, dtype, expected);
      if (same(dtype, elements + i * apart * size, expected)) continue;
      fail_msg("dtype %d, lane %d: %a is not written as the reference does, %lld apart", dtype, lane,
               kw_number_load(lane_dtypes[lane], from), (long long)apart);
    }
  }
}

/* A row of which each element has the same bits wherever it lies: also a NaN. */
static void check_place(const kw_isa *isa, kw_dtype dtype, kw_lane lane, const char *lanes, int64_t n) {
  const int64_t size = (int64_t)kw_number_size(dtype), lane_size = (int64_t)kw_number_size(lane_dtypes[lane]);
  char row[8 * ROW], alone[8], again[8 * ROW];
  isa->write[dtype][lane](row, size, lanes, n);
  isa->read[dtype][lane](again, row, size, n);
  for (int64_t i = 0; i < n; i++) {
    isa->write[dtype][lane](alone, size, lanes + i * lane_size, 1);
    if (memcmp(alone, row + i * size, (size_t)size) != 0)
      fail_msg("dtype %d, lane %d is written otherwise", dtype, lane);
    isa->read[dtype][lane](alone, row + i * size, size, 1);
    if (memcmp(alone, again + i * lane_size, (size_t)lane_size) != 0) fail_msg("dtype %d is read otherwise", dtype);
  }
}

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

/* All patterns of the dtypes of one and two bytes, and of the wider ones those with these upper bytes. */
static void read_patterns(const kw_isa *isa, kw_dtype dtype, kw_lane lane) {
  const size_t size = kw_number_size(dtype);
  const uint32_t patterns = size == 1 ? 256 : 65536;
  char elements[8 * ROW];
  int64_t n = 0;
  for (uint32_t p = 0; p < patterns; p++) {
    const uint64_t bits = size <= 2 ? p : ((uint64_t)p << (8 * size - 16)) | (p * 40503u % 65536u);
    memcpy(elements + size * (size_t)n++, &bits, size);
    if (n < ROW && p + 1 < patterns) continue;
    check_read(isa, dtype, lane, elements, n);
    n = 0;
  }
}

static void test_every_pattern_is_read(void **state) {
  (void)state;
  for (kw_capability level = KW_CAPABILITY_BASELINE; level < KW_CAPABILITY_COUNT; level++) {
    const kw_isa *isa = test_isa(level);
    for (kw_dtype dtype = 0; isa && dtype < KW_ISA_DTYPES; dtype++) {
      for (kw_lane lane = 0; lane < KW_LANE_COUNT; lane++) {
        if (isa->read[dtype][lane]) read_patterns(isa, dtype, lane);
      }
    }
  }
}

/* ---- Writing ----------------------------------------------------------------------------------------------------- */

/* Lanes gathered until there is a row of them, for every dtype. */
typedef struct row {
  const kw_isa *isa;
  kw_lane lane;
  int64_t n;
  union {
    float f32[ROW];
    double f64[ROW];
    int32_t i32[ROW];
    int64_t i64[ROW];
  } lanes;
} row;

static void flush(row *r) {
  for (kw_dtype dtype = 0; dtype < KW_ISA_DTYPES; dtype++) {
    if (r->isa->write[dtype][r->lane]) check_write(r->isa, dtype, r->lane, &r->lanes, r->n);
  }
  r->n = 0;
}

static void add_f32(row *r, uint32_t bits) {
  memcpy(&r->lanes.f32[r->n++], &bits, sizeof bits);
  if (r->n == ROW) flush(r);
}

static void add_f64(row *r, double value) {
  r->lanes.f64[r->n++] = value;
  if (r->n == ROW) flush(r);
}

/* Below the upper 13 bits, which f16 keeps the most of, those that are half of its last place, and beside that. The
 * places of bf16 and f8 lie above. */
static const uint32_t low_bits[] = {0, 1, 0xfff, 0x1000, 0x1001, 0x1fff};
#define LOW_BITS (sizeof low_bits / sizeof *low_bits)

static void test_every_boundary_of_f32_is_written(void **state) {
  (void)state;
  for (kw_capability level = KW_CAPABILITY_BASELINE; level < KW_CAPABILITY_COUNT; level++) {
    row r = {.isa = test_isa(level), .lane = KW_LANE_F32};
    for (uint32_t high = 0; r.isa && high < 1u << 19; high++) {
      /* bf16 has its half at the upper bits' last three; elsewhere these say little, so a seventh of them will do. */
      if (high % 8 > 0 && high % 8 != 4 && high % 7 != 0) continue;
      for (size_t i = 0; i < LOW_BITS; i++) add_f32(&r, high << 13 | low_bits[i]);
    }
    if (r.isa) flush(&r);
  }
}

/* Doubles just beside and at what a rounding to f32 makes a tie of. */
static void test_f64_is_rounded_once(void **state) {
  (void)state;
  for (kw_capability level = KW_CAPABILITY_BASELINE; level < KW_CAPABILITY_COUNT; level++) {
    row r = {.isa = test_isa(level), .lane = KW_LANE_F64};
    for (uint32_t high = 0; r.isa && high < 1u << 19; high += 3) {
      const uint32_t bits = high << 13 | (high & 1 ? 0x1000 : 0);
      float value;
      memcpy(&value, &bits, sizeof value);
      add_f64(&r, (double)value);
      add_f64(&r, nextafter((double)value, (double)INFINITY));
      add_f64(&r, nextafter((double)value, -(double)INFINITY));
    }
    for (int exponent = -1074; r.isa && exponent < 1024; exponent++) {
      add_f64(&r, ldexp(1, exponent));
      add_f64(&r, -ldexp(1 + 0x1p-24, exponent));
    }
    if (r.isa) flush(&r);
  }
}

/* Around the ends of every integer dtype. */
static void test_floating_point_saturates(void **state) {
  (void)state;
  static const double ends[] = {0,
                                1,
                                127,
                                128,
                                255,
                                256,
                                32767,
                                32768,
                                65535,
                                65536,
                                0x1p31,
                                0x1p31 - 1,
                                0x1p32,
                                0x1p53,
                                0x1p62,
                                0x1p63,
                                0x1p64,
                                0x1p127,
                                0x1p-149,
                                0x1p-1074,
                                0.5,
                                1.5,
                                (double)INFINITY,
                                (double)NAN};
  for (kw_capability level = KW_CAPABILITY_BASELINE; level < KW_CAPABILITY_COUNT; level++) {
    row narrow = {.isa = test_isa(level), .lane = KW_LANE_F32}, wide = {.isa = narrow.isa, .lane = KW_LANE_F64};
    for (size_t i = 0; narrow.isa && i < sizeof ends / sizeof *ends; i++) {
      for (int sign = -1; sign <= 1; sign += 2) {
        const float value = (float)(sign * ends[i]);
        for (int ulp = -2; ulp <= 2; ulp++) {
          uint32_t bits;
          memcpy(&bits, &value, sizeof bits);
          add_f32(&narrow, bits + (uint32_t)ulp);
          add_f64(&wide, sign * ends[i] + ulp * 0.75);
          add_f64(&wide, ulp > 0 ? nextafter(sign * ends[i], (double)INFINITY) : nextafter(sign * ends[i], 0));
        }
      }
    }
    if (narrow.isa) flush(&narrow);
    if (wide.isa) flush(&wide);
  }
}

static void test_bits_do_not_depend_on_the_place(void **state) {
  (void)state;
  for (kw_capability level = KW_CAPABILITY_BASELINE; level < KW_CAPABILITY_COUNT; level++) {
    const kw_isa *isa = test_isa(level);
    for (kw_dtype dtype = 0; isa && dtype < KW_ISA_DTYPES; dtype++) {
      char lanes[8 * ROW];
      for (uint32_t i = 0; i < ROW; i++) { /* NaN of all kinds among others */
        const uint32_t bits = (i % 2 ? 0x7f800001u | (i * 0x3a511u & 0x7fffffu) : 0x43000000u + i * 77777u) | i / 2
                                                                                                                  << 31;
        memcpy(lanes + sizeof bits * i, &bits, sizeof bits);
      }
      check_place(isa, dtype, KW_LANE_F32, lanes, ROW);
      for (uint32_t i = 0; i < ROW; i++) {
        const uint64_t fraction = i * UINT64_C(0x3a511c0ffee) % (UINT64_C(1) << 52), sign = (uint64_t)(i / 2) << 63;
        const uint64_t bits = (uint64_t)(i % 2 ? 0x7ff : 0x406) << 52 | fraction | 1 | sign;
        memcpy(lanes + sizeof bits * i, &bits, sizeof bits);
      }
      check_place(isa, dtype, KW_LANE_F64, lanes, ROW);
    }
  }
}

static void test_integers_wrap_and_round(void **state) {
  (void)state;
  for (kw_capability level = KW_CAPABILITY_BASELINE; level < KW_CAPABILITY_COUNT; level++) {
    row narrow = {.isa = test_isa(level), .lane = KW_LANE_I32}, wide = {.isa = narrow.isa, .lane = KW_LANE_I64};
    for (int bit = 0; narrow.isa && bit < 64; bit++) {
      for (int beside = -2; beside <= 2; beside++) {
        for (int half = 0; half <= 1; half++) { /* with half of the last place that f32 and f64 have */
          const uint64_t low = half && bit >= 24 ? UINT64_C(1) << (bit >= 53 ? bit - 53 : bit - 24) : 0;
          const uint64_t bits = (UINT64_C(1) << bit) + low + (uint64_t)(int64_t)beside;
          narrow.lanes.i32[narrow.n++] = (int32_t)(uint32_t)bits;
          if (narrow.n == ROW) flush(&narrow);
          wide.lanes.i64[wide.n++] = (int64_t)(bit % 2 ? bits : 0 - bits);
          if (wide.n == ROW) flush(&wide);
        }
      }
    }
    if (narrow.isa) flush(&narrow);
    if (wide.isa) flush(&wide);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_pattern_is_read),   cmocka_unit_test(test_every_boundary_of_f32_is_written),
      cmocka_unit_test(test_f64_is_rounded_once),     cmocka_unit_test(test_floating_point_saturates),
      cmocka_unit_test(test_integers_wrap_and_round), cmocka_unit_test(test_bits_do_not_depend_on_the_place),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
