/* SPDX-License-Identifier: Apache-2.0
 *
 * Scans: each lane becomes what the lanes up to it are together, along a row, or by columns from row to row.
 *
 * f32 is carried on in f64, and sums of f64 with what their additions have lost (Knuth, The Art of Computer
 * Programming, volume 2, section 4.2.2, theorem B), which keeps every prefix within growth(n) of the op table. Along a
 * row four lanes are joined before the carry is, which then waits for one operation instead of four.
 */
#include "level.h"

#include <math.h>

/* ---- f32 --------------------------------------------------------------------------------------------------------- */

#define SCAN_F32(name, op)                                                           \
  static void name##_along_f32(void *out, void *state, const void *in, int64_t n) {  \
    double *state_of = state, carry = state_of[0];                                   \
    const float *x = in;                                                             \
    float *y = out;                                                                  \
    int64_t i = 0;                                                                   \
    for (; i + 4 <= n; i += 4) {                                                     \
      const double a = x[i], b = a op x[i + 1], c = b op x[i + 2];                   \
      const double d = b op((double)x[i + 2] op x[i + 3]);                           \
      y[i] = (float)(carry op a);                                                    \
      y[i + 1] = (float)(carry op b);                                                \
      y[i + 2] = (float)(carry op c);                                                \
      carry = carry op d;                                                            \
      y[i + 3] = (float)carry;                                                       \
    }                                                                                \
    for (; i < n; i++) y[i] = (float)(carry = carry op x[i]);                        \
    state_of[0] = carry;                                                             \
  }                                                                                  \
  static void name##_across_f32(void *out, void *state, const void *in, int64_t n) { \
    double *carry = state;                                                           \
    KW_INDEPENDENT                                                                   \
    for (int64_t i = 0; i < n; i++) {                                                \
      const double x = carry[i] op((const float *)in)[i];                            \
      carry[i] = x;                                                                  \
      ((float *)out)[i] = (float)x;                                                  \
    }                                                                                \
  }
SCAN_F32(sum, +)
SCAN_F32(product, *)

/* ---- f64: of a sum the state has n lanes, and behind them what those have lost ----------------------------------- */

/* What an addition has lost; nothing where the sum is not finite. */
static inline double lost(double a, double b, double sum) {
  const double from_b = sum - a, from_a = sum - from_b, error = (a - from_a) + (b - from_b);
  return sum - sum == 0 ? error : 0;
}

static void sum_along_f64(void *out, void *state, const void *in, int64_t n) {
  double *carry = state, high = carry[0], low = carry[1];
  const double *x = in;
  double *y = out;
  int64_t i = 0;
  for (; i + 4 <= n; i += 4) {
    const double a = x[i], b = a + x[i + 1], c = b + x[i + 2], d = b + (x[i + 2] + x[i + 3]);
    y[i] = high + (low + a);
    y[i + 1] = high + (low + b);
    y[i + 2] = high + (low + c);
    const double sum = high + d;
    low += lost(high, d, sum);
    high = sum;
    y[i + 3] = high + low;
  }
  for (; i < n; i++) {
    const double sum = high + x[i];
    low += lost(high, x[i], sum);
    high = sum;
    y[i] = high + low;
  }
  carry[0] = high;
  carry[1] = low;
}

static void sum_across_f64(void *out, void *state, const void *in, int64_t n) {
  double *high = state, *low = high + n;
  KW_INDEPENDENT
  for (int64_t i = 0; i < n; i++) {
    const double x = ((const double *)in)[i], old = high[i], sum = old + x, rest = low[i] + lost(old, x, sum);
    high[i] = sum;
    low[i] = rest;
    ((double *)out)[i] = sum + rest;
  }
}

static void product_along_f64(void *out, void *state, const void *in, int64_t n) {
  double carry = *(double *)state;
  for (int64_t i = 0; i < n; i++) ((double *)out)[i] = carry *= ((const double *)in)[i];
  *(double *)state = carry;
}

static void product_across_f64(void *out, void *state, const void *in, int64_t n) {
  double *carry = state;
  KW_INDEPENDENT
  for (int64_t i = 0; i < n; i++) {
    const double x = carry[i] * ((const double *)in)[i];
    carry[i] = x;
    ((double *)out)[i] = x;
  }
}

#define START_FLOAT(name, identity)                        \
  static void name##_start_float(void *state, int64_t n) { \
    for (int64_t i = 0; i < n; i++) {                      \
      ((double *)state)[i] = (identity);                   \
      ((double *)state)[n + i] = 0;                        \
    }                                                      \
  }
START_FLOAT(sum, 0)
START_FLOAT(product, 1)

/* ---- Integers, which wrap ---------------------------------------------------------------------------------------- */

#define SCAN_INT(name, lane, U, op, identity)                                           \
  static void name##_start_##lane(void *state, int64_t n) {                             \
    for (int64_t i = 0; i < n; i++) ((U *)state)[i] = (identity);                       \
  }                                                                                     \
  static void name##_along_##lane(void *out, void *state, const void *in, int64_t n) {  \
    U carry = *(U *)state;                                                              \
    for (int64_t i = 0; i < n; i++) ((U *)out)[i] = carry = carry op((const U *)in)[i]; \
    *(U *)state = carry;                                                                \
  }                                                                                     \
  static void name##_across_##lane(void *out, void *state, const void *in, int64_t n) { \
    U *carry = state;                                                                   \
    KW_INDEPENDENT                                                                      \
    for (int64_t i = 0; i < n; i++) {                                                   \
      const U x = carry[i] op((const U *)in)[i];                                        \
      carry[i] = x;                                                                     \
      ((U *)out)[i] = x;                                                                \
    }                                                                                   \
  }
SCAN_INT(sum, i32, uint32_t, +, 0)
SCAN_INT(product, i32, uint32_t, *, 1)
SCAN_INT(sum, i64, uint64_t, +, 0)
SCAN_INT(product, i64, uint64_t, *, 1)

void KW_ISA_NAME(kw_add_scans)(kw_isa *isa) {
#define ROW(name, start, lane) (kw_scan){name##_start_##start, name##_along_##lane, name##_across_##lane}
#define ROWS(fn, name)                                 \
  isa->scans[fn][KW_LANE_F32] = ROW(name, float, f32); \
  isa->scans[fn][KW_LANE_F64] = ROW(name, float, f64); \
  isa->scans[fn][KW_LANE_I32] = ROW(name, i32, i32);   \
  isa->scans[fn][KW_LANE_I64] = ROW(name, i64, i64);
  ROWS(KW_SCAN_SUM, sum)
  ROWS(KW_SCAN_PRODUCT, product)
#undef ROWS
#undef ROW
}
