/* SPDX-License-Identifier: Apache-2.0
 *
 * Input values, drawn from Philox by domain.
 */
#include "case/value.h"

#include <math.h>
#include <string.h>

/* ---- Special values ---------------------------------------------------------------------------------------------- */

/* What every float format has, by name; encoded per format below. */
enum {
  S_ZERO,
  S_NEG_ZERO,
  S_ONE,
  S_NEG_ONE,
  S_HALF,
  S_NEG_HALF,
  S_THREE_HALVES,
  S_FIVE_HALVES,
  S_ABOVE_ONE,
  S_BELOW_ONE,
  S_TWO,
  S_SEVEN,
  S_MIN_SUBNORMAL,
  S_NEG_MIN_SUBNORMAL,
  S_MAX_SUBNORMAL,
  S_MIN_NORMAL,
  S_NEG_MIN_NORMAL,
  S_MAX,
  S_NEG_MAX,
  S_INF,
  S_NEG_INF,
  S_NAN,
  S_NEG_NAN,
  S_FULL_NAN, /* every bit of the fraction: what some chips make, and what rounding carries out of */
  S_SIGNALING_NAN,
  S_COUNT
};

static uint64_t float_bits(kw_dtype dtype, int special) {
  kw_float_format f = kw_element_format(dtype);
  int bits = (int)kw_element_size(dtype) * 8, fraction = f.precision - 1;
  uint64_t sign = UINT64_C(1) << (bits - 1);
  uint64_t one = (uint64_t)(1 - f.emin) << fraction; /* exponent 0 */
  uint64_t step = UINT64_C(1) << fraction;           /* one binade */
  uint64_t inf = sign - step;
  switch (special) {
    case S_NEG_ZERO:
      return sign;
    case S_ONE:
      return one;
    case S_NEG_ONE:
      return sign | one;
    case S_HALF:
      return one - step;
    case S_NEG_HALF:
      return sign | (one - step);
    case S_THREE_HALVES:
      return one + step / 2;
    case S_FIVE_HALVES:
      return one + step + step / 4;
    case S_ABOVE_ONE:
      return one + 1;
    case S_BELOW_ONE:
      return one - 1;
    case S_TWO:
      return one + step;
    case S_SEVEN:
      return one + 2 * step + step / 2 + step / 4;
    case S_MIN_SUBNORMAL:
      return 1;
    case S_NEG_MIN_SUBNORMAL:
      return sign | 1;
    case S_MAX_SUBNORMAL:
      return step - 1;
    case S_MIN_NORMAL:
      return step;
    case S_NEG_MIN_NORMAL:
      return sign | step;
    case S_MAX:
      return dtype == KW_F8E4M3FN ? 0x7e : inf - 1;
    case S_NEG_MAX:
      return sign | (dtype == KW_F8E4M3FN ? 0x7e : inf - 1);
    case S_INF:
      return dtype == KW_F8E4M3FN ? 0x7d : inf; /* no infinity: a large value instead */
    case S_NEG_INF:
      return sign | (dtype == KW_F8E4M3FN ? 0x7d : inf);
    case S_NAN:
      return dtype == KW_F8E4M3FN ? 0x7f : inf | step / 2;
    case S_NEG_NAN:
      return sign | (dtype == KW_F8E4M3FN ? 0x7f : inf | step / 2 | 1);
    case S_FULL_NAN:
      return sign - 1;
    case S_SIGNALING_NAN:
      return dtype == KW_F8E4M3FN ? 0x7f : inf | 1;
    default:
      return 0;
  }
}

static const int64_t small_specials[] = {0, 1, -1, 2, -2, 3, 7, -7};
#define INTEGER_SPECIALS (sizeof small_specials / sizeof small_specials[0] + 4)

/* Numbers of special values. */
#define GREATEST 0
#define LEAST 2

static uint64_t integer_bits(kw_dtype dtype, uint32_t special) {
  int bits = (int)kw_element_size(dtype) * 8;
  uint64_t all = bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
  bool is_signed = dtype != KW_U8;
  uint64_t max = is_signed ? all >> 1 : all, min = is_signed ? ~(all >> 1) & all : 0;
  switch (special) {
    case GREATEST:
      return max;
    case 1:
      return max - 1;
    case LEAST:
      return min;
    case 3:
      return min + 1;
    default:
      return (uint64_t)small_specials[special - 4] & all;
  }
}

uint32_t kw_value_special_count(kw_dtype dtype) {
  if (kw_element_is_float(dtype)) return S_COUNT;
  return dtype == KW_BOOL ? 2 : (uint32_t)INTEGER_SPECIALS;
}

static void store_special(kw_dtype dtype, uint32_t special, void *out) {
  uint64_t bits = kw_element_is_float(dtype) ? float_bits(dtype, (int)special)
                  : dtype == KW_BOOL         ? special
                                             : integer_bits(dtype, special);
  memcpy(out, &bits, kw_element_size(dtype));
}

/* Those special values that may stand in a sum whose other terms are small: no order of summation overflows. */
static const uint8_t sum_specials[] = {S_NAN, S_INF, S_NEG_INF, S_NEG_ZERO, S_MIN_SUBNORMAL, S_MIN_NORMAL, S_ONE};
#define SUM_SPECIALS (sizeof sum_specials)
_Static_assert(KW_VALUE_NAN % SUM_SPECIALS == 0, "the first of them");

static const uint8_t subnormals[] = {S_ZERO,          S_NEG_ZERO,          S_ZERO,          S_NEG_ZERO,
                                     S_MIN_SUBNORMAL, S_NEG_MIN_SUBNORMAL, S_MAX_SUBNORMAL, S_ZERO};
#define SUBNORMALS (sizeof subnormals)

/* ---- Domains ----------------------------------------------------------------------------------------------------- */

static double unit(uint32_t word) { /* [0, 1) */
  return word * 0x1p-32;
}

static double spread(const uint32_t r[4], int low, int high) { /* +-2^[low, high) */
  int exponent = low + (int)((uint64_t)r[0] * (uint64_t)(high - low) >> 32);
  return (r[1] & 1 ? -1.0 : 1.0) * (1.0 + unit(r[2])) * kw_element_pow2(exponent);
}

/* Of operations that IEEE 754 rounds in one way only: the same numbers on all machines, whatever their libm is. */
static double float_value(kw_domain domain, const uint32_t r[4]) {
  double u = unit(r[0]) + unit(r[3]) * 0x1p-32; /* enough bits for f64 */
  switch (domain) {
    case KW_DOMAIN_UNIT:
      return 2 * u - 1;
    case KW_DOMAIN_POSITIVE: {
      double v = fabs(spread(r, -6, 6));
      return r[3] % 8 == 0 ? -v : v;
    }
    case KW_DOMAIN_EXPONENT:
      return 40 * u - 20;
    case KW_DOMAIN_ANGLE:
      return spread(r, -6, 12);
    case KW_DOMAIN_NEAR:
      return r[1] & 2 ? spread(r, -12, 0) : 16 * u - 8;
    case KW_DOMAIN_ABOVE_ONE: {
      double v = fabs(spread(r, -12, 6));
      return 1 + (r[3] % 8 == 0 ? -v : v);
    }
    case KW_DOMAIN_HALVES: {
      double half = (double)(r[0] % 33) / 2 - 8;
      return r[1] % 3 == 0 ? 16 * u - 8 : r[1] % 3 == 1 ? half : half + spread(r, -10, -3);
    }
    case KW_DOMAIN_FEW:
      return (double)(r[0] % 5) - 2;
    case KW_DOMAIN_SIXTEENTH:
      return (2 * (double)(r[0] % 24) - 23) / 16;
    case KW_DOMAIN_POWER_BASE:
      return (1 + u) * kw_element_pow2((int)(r[1] % 6) - 3);
    case KW_DOMAIN_POWER:
      return r[1] % 4 == 0 ? (double)(r[0] % 9) - 4 : 8 * u - 4;
    case KW_DOMAIN_SMALL:
      return (double)(r[0] % 17) - 8;
    case KW_DOMAIN_BOOL:
      return r[0] & 1;
    case KW_DOMAIN_STEP:
      return 1 + r[0] % (r[1] & 1 ? 8 : 1000);
    case KW_DOMAIN_FACTOR: {
      double v = 1 + 0.0905 * u; /* or its inverse: products neither grow nor shrink by themselves */
      return (r[1] & 1 ? -1.0 : 1.0) * (r[1] & 2 ? 1 / v : v);
    }
    case KW_DOMAIN_EXACT_FACTOR:
      return (r[1] & 1 ? -1.0 : 1.0) * ldexp(1, (int)(r[0] % 3) - 1);
    case KW_DOMAIN_EDGE_BASE:
      return (double[]){2, 0.5, 2.718281828459045, 0.36787944117144233, 10, 0.1}[r[0] % 6];
    case KW_DOMAIN_WEIGHT:
      return 8 * u + 0x1p-8;
    case KW_DOMAIN_PROBABILITY:
      return r[1] % 8 < 2 ? r[1] % 8 : u;
    default:
      return spread(r, -6, 6) * (1.0 + 0x1p-32 * unit(r[3]));
  }
}

static int64_t integer_value(kw_domain domain, const uint32_t r[4]) {
  uint64_t bits = (uint64_t)r[2] << 32 | r[3];
  int64_t small = (int64_t)(r[0] % 17) - 8;
  switch (domain) {
    case KW_DOMAIN_FEW:
    case KW_DOMAIN_SUBNORMAL:
      return (int64_t)(r[0] % 5) - 2;
    case KW_DOMAIN_POWER_BASE:
      return (int64_t)(r[0] % 11) - 5;
    case KW_DOMAIN_POWER:
      return (int64_t)(r[0] % 12) - 3;
    case KW_DOMAIN_SMALL:
    case KW_DOMAIN_EXPONENT:
    case KW_DOMAIN_NEAR:
    case KW_DOMAIN_BELOW_NORMAL:
    case KW_DOMAIN_EDGE:
    case KW_DOMAIN_EDGE_BASE:
      return small;
    case KW_DOMAIN_POSITIVE:
    case KW_DOMAIN_ABOVE_ONE:
    case KW_DOMAIN_ANGLE:
      return small + 8;
    case KW_DOMAIN_SHIFT:
      return r[1] % 4 ? (int64_t)(r[0] % 9) : (int64_t)(r[0] % 72) - 3;
    case KW_DOMAIN_BOOL:
      return r[0] & 1;
    case KW_DOMAIN_MASK:
      return r[0] & 1 ? 0 : (int64_t[]){1, 2, 128, 255}[r[1] % 4];
    case KW_DOMAIN_FACTOR:
      return (int64_t)(bits | 1);
    case KW_DOMAIN_EXACT_FACTOR:
      return (int64_t[]){1, -1, 3, -3}[r[0] % 4];
    case KW_DOMAIN_NONZERO:
      return r[1] & 1 && (bits & 0xff) ? (int64_t)bits : small == 0 ? 9 : small;
    default:
      return r[1] & 1 ? (int64_t)bits : small;
  }
}

/* Half the exponents of the dtype's range, so that squares are inside, less a few bits for a sum. */
static double extreme_value(kw_domain domain, kw_dtype dtype, const uint32_t r[4]) {
  int room = kw_element_format(dtype).emax / 2;
  return domain == KW_DOMAIN_HUGE ? spread(r, room - 10, room - 6) : spread(r, 2 - room, 6 - room);
}

/* 10^4 and something, or as much as leaves halves apart: rows of equal values would tell nothing. */
static double offset_value(kw_dtype dtype, const uint32_t r[4]) {
  double room = kw_element_pow2(kw_element_format(dtype).precision - 2);
  return (room < 1e4 ? room : 1e4) + (2 * unit(r[0]) - 1);
}

#define LN2 0.69314718055994531
#define LOG10_2 0.30102999566398120

/* Where results are 2^exponent for an exponent at which a format ends, its own or that which it is computed in, and
 * where they are nearer than that to 1: e^x, e^2x, 2^x, 10^x or e^(-x^2 / 2) times something is what elementary
 * functions are made of. Evenly over the exponents of the distance from there, so that the last few numbers before an
 * end are as many as those around. */
static double edge_value(kw_dtype dtype, const uint32_t r[4]) {
  const kw_float_format format = kw_element_format(r[3] & 1 ? dtype : kw_element_compute(dtype));
  const int least = format.emin - format.precision, kind = (int)(r[3] >> 1 & 7);
  const int exponents[] = {format.emax + 1, format.emax + 2, format.emin, least, format.precision};
  const double exponent = exponents[(r[3] >> 4) % 5];
  const double places[] = {exponent, exponent * LN2, exponent * LN2 / 2, exponent * LOG10_2,
                           sqrt(2 * LN2 * fabs(exponent))};
  if (kind == 0) return (r[3] & 16 ? -1.0 : 1.0) + spread(r, -format.precision, 0);
  if (kind == 1) return spread(r, least + 1, format.emin + 3);
  return (r[1] & 2 ? -1.0 : 1.0) * places[(r[1] >> 2) % 5] + spread(r, -12, 1);
}

/* A number of either sign whose exponent field is 0, and that is no zero. */
static void store_below_normal(kw_dtype dtype, const uint32_t r[4], void *out) {
  const uint64_t numbers = UINT64_C(1) << (kw_element_format(dtype).precision - 1);
  const uint64_t sign = UINT64_C(1) << (8 * kw_element_size(dtype) - 1);
  const uint64_t bits = (1 + ((uint64_t)r[0] << 32 | r[1]) % (numbers - 1)) | (r[2] & 1 ? sign : 0);
  memcpy(out, &bits, kw_element_size(dtype));
}

static void store_plain(kw_domain domain, kw_dtype dtype, const uint32_t r[4], void *out) {
  if (dtype == KW_BOOL) {
    bool factor = domain == KW_DOMAIN_FACTOR || domain == KW_DOMAIN_EXACT_FACTOR; /* a false one decides all */
    *(uint8_t *)out = factor ? r[0] >> 8 & 15 ? 1 : 0 : r[0] >> 8 & 1;
  } else if (kw_element_is_float(dtype) && domain == KW_DOMAIN_SUBNORMAL) {
    store_special(dtype, subnormals[r[0] % SUBNORMALS], out);
  } else if (kw_element_is_float(dtype) && domain == KW_DOMAIN_BELOW_NORMAL) {
    store_below_normal(dtype, r, out);
  } else if (kw_element_is_float(dtype) && domain == KW_DOMAIN_EDGE) {
    kw_element_store(dtype, out, edge_value(dtype, r));
  } else if (kw_element_is_float(dtype)) {
    bool extreme = domain == KW_DOMAIN_HUGE || domain == KW_DOMAIN_TINY, offset = domain == KW_DOMAIN_OFFSET;
    kw_element_store(dtype, out,
                     extreme  ? extreme_value(domain, dtype, r)
                     : offset ? offset_value(dtype, r)
                              : float_value(domain, r));
  } else {
    int64_t value = integer_value(domain, r);
    memcpy(out, &value, kw_element_size(dtype));
  }
}

/* Whether element `place` of `length` in a row of ENDS is 1 or -1: in each two rows another part. */
static bool is_between(uint64_t pair, uint64_t place, uint64_t length) {
  switch (pair) {
    case 1:
      return place + 1 == length;
    case 2:
      return place == 0;
    case 3:
      return place >= length - length / 4;
    case 4:
      return place < (length + 3) / 4;
    case 5:
      return place % 64 == 37;
    default:
      return false;
  }
}

/* Cases begin with rows of different kinds, and run 1 with another one, so that a single row is of both ends. */
static void store_end(const kw_value_key *key, kw_dtype dtype, uint64_t index, const uint32_t r[4], void *out) {
  const uint64_t stride = key->stride ? key->stride : 1, length = key->limit > 0 ? (uint64_t)key->limit : key->extent;
  const uint64_t place = index / stride % length, row = index / (stride * length) * stride + index % stride;
  const uint64_t turn = row + key->run + key->case_hash % KW_VALUE_END_ROWS;
  const uint64_t kind = key->from_end ? 2 + turn % 2 : turn % KW_VALUE_END_ROWS;
  const bool is_float = kw_element_is_float(dtype), low = kind % 2 == 0, nan = kind + 1 == KW_VALUE_END_ROWS;
  if (is_between(kind / 2, place, length) && !nan && dtype != KW_BOOL) {
    const int64_t one = r[0] & 1 ? 1 : -1;
    if (is_float) kw_element_store(dtype, out, (double)one);
    if (!is_float) memcpy(out, &one, kw_element_size(dtype));
  } else if (dtype == KW_BOOL) {
    *(uint8_t *)out = low == is_between(kind / 2, place, length);
  } else {
    const int special = nan ? S_NAN : low ? S_NEG_INF : S_INF;
    const uint64_t bits = is_float ? float_bits(dtype, special) : integer_bits(dtype, low ? LEAST : GREATEST);
    memcpy(out, &bits, kw_element_size(dtype));
  }
}

/* An integer next to a halfway point between two of the target's that is as large as the dtype and the target have, so
 * that neither f32 nor, for the largest, f64 has it: rounded to one of those first it ends on the wrong side. */
static int64_t halfway_integer(kw_dtype target, kw_dtype dtype, const uint32_t r[4]) {
  const kw_float_format format = kw_element_format(kw_element_is_float(target) ? target : KW_F32);
  const int bits = 8 * (int)kw_element_size(dtype) - 2, last = format.emax < bits ? format.emax : bits;
  const int least = format.precision + 1,
            exponent = last <= least ? least : least + (int)(r[2] % (uint32_t)(last - least + 1));
  if (least > bits) return integer_value(KW_DOMAIN_ANY, r);
  const uint64_t step = UINT64_C(1) << (exponent - format.precision);
  const uint64_t count = UINT64_C(1) << format.precision, odd = ((uint64_t)r[0] << 21 ^ r[1]) % count | 1;
  const int64_t tie = (int64_t)((count | odd) * step) + (int64_t)(r[1] >> 8) % 3 - 1;
  return r[3] & 1 ? -tie : tie;
}

/* The same at the ends of the target's range: between two of its subnormals, or past its largest number. */
static double halfway_at_ends(kw_float_format format, const uint32_t r[4]) {
  if (r[0] % 4 == 0) return format.max + kw_element_pow2(format.emax - format.precision);
  const uint32_t below = (r[0] >> 2) % (1u << (format.precision - 1));
  return (2.0 * below + 1) * kw_element_pow2(format.emin - format.precision);
}

/* A value next to a halfway point between two of the target's, off it by less than an f32 tells: rounded to f32 first
 * and then to the target it ends on the wrong side. Exact halfway points where the dtype has no room for more. */
static double halfway(kw_dtype target, kw_dtype dtype, const uint32_t r[4]) {
  const bool narrows = kw_element_is_float(target) && kw_element_size(target) < kw_element_size(dtype);
  const kw_float_format format = kw_element_format(kw_element_is_float(target) ? target : KW_F32);
  const double significand = ldexp(1 + floor(unit(r[0]) * ldexp(1, format.precision)), 1 - format.precision);
  const double off = dtype == KW_F64 ? ((int)(r[1] % 3) - 1) * ldexp(1, -40) : 0, sign = r[3] & 1 ? -1.0 : 1.0;
  if (narrows && r[2] >> 4 & 1) return sign * halfway_at_ends(format, r) * (1 + off);
  return sign * ldexp(significand + ldexp(0.5, 1 - format.precision) + off, (int)(r[2] % 16) - 4);
}

static void store_convert(const kw_value_key *key, kw_dtype dtype, uint64_t index, const uint32_t r[4], void *out) {
  if (index % 3 == 0) {
    store_special(dtype, (uint32_t)(index / 3 % kw_value_special_count(dtype)), out);
  } else if (index % 3 == 1 && kw_element_is_float(dtype)) {
    kw_element_store(dtype, out, halfway(key->target, dtype, r));
  } else if (index % 3 == 1 && kw_element_is_integer(dtype)) {
    const int64_t value = halfway_integer(key->target, dtype, r);
    memcpy(out, &value, kw_element_size(dtype));
  } else {
    store_plain(KW_DOMAIN_ANY, dtype, r, out);
  }
}

/* Zeros of both signs and values that are none, one in `stride` of either; a bit anywhere makes an integer one. */
static void store_sparse(kw_dtype dtype, uint32_t stride, bool dense, const uint32_t r[4], void *out) {
  bool zero = (r[0] % stride != 0) != dense;
  if (kw_element_is_float(dtype)) {
    double value = zero ? (r[1] & 1 ? -0.0 : 0.0) : float_value(KW_DOMAIN_ANY, r);
    kw_element_store(dtype, out, !zero && r[3] % 4 == 0 ? (double)NAN : value);
    return;
  }
  uint64_t value = zero ? 0 : UINT64_C(1) << (dtype == KW_BOOL ? 0 : r[1] % (8 * kw_element_size(dtype)));
  memcpy(out, &value, kw_element_size(dtype));
}

/* What words are keyed by. */
static uint64_t mixed(const kw_value_key *key) {
  return key->seed ^ key->case_hash;
}

static uint64_t common_divisor(uint64_t a, uint64_t b) {
  return b == 0 ? a : common_divisor(b, a % b);
}

/* An affine map modulo limit, its factor prime to limit: neighbours far apart, none twice. */
static uint64_t spread_index(const kw_value_key *key, uint64_t index) {
  const uint64_t limit = (uint64_t)key->limit;
  uint32_t r[4];
  kw_words_draw(mixed(key), UINT64_MAX, key->arg, key->run, r);
  uint64_t factor = 1 + r[0] % limit, shift = r[1] % limit;
  while (common_divisor(factor, limit) != 1) factor++;
  return (index / (key->stride ? key->stride : 1) % limit * (factor % limit) + shift) % limit;
}

/* Part i begins in [i, i + 1) * limit / parts; the first at 0, and in one of two runs the second, too. */
static void store_start(const kw_value_key *key, kw_dtype dtype, uint64_t index, const uint32_t r[4], void *out) {
  uint64_t parts = key->stride, limit = (uint64_t)key->limit;
  uint64_t low = index * limit / parts, room = (index + 1) * limit / parts - low;
  const bool none_first = parts > 1 && (key->arg + key->run) % 2 == 1;
  uint64_t value = index <= none_first ? 0 : index >= parts ? limit : low + (room > 0 ? r[0] % room : 0);
  memcpy(out, &value, kw_element_size(dtype));
}

static void store_index(const kw_value_key *key, kw_dtype dtype, uint64_t index, const uint32_t r[4], void *out) {
  int64_t limit = key->limit > 0 ? key->limit : 1;
  int64_t value = key->limit > 0 && key->domain == KW_DOMAIN_SPREAD ? (int64_t)spread_index(key, index)
                                                                    : (int64_t)(r[0] % (uint64_t)limit);
  if (key->from_end && r[1] & 1) value -= limit;
  memcpy(out, &value, kw_element_size(dtype));
}

/* Element `index` of `of` of a row that ascends: of 64 steps the first are -inf and the last inf and NaN, of the 16 of
 * an integer the first and the last its limits. Random numbers decide where a step begins. */
static void store_ascending(const kw_value_key *key, kw_dtype dtype, uint64_t index, const uint32_t r[4], void *out) {
  const uint64_t limit = (uint64_t)key->limit, place = limit ? index / (key->stride ? key->stride : 1) : index;
  const uint64_t rank = limit ? (place + limit / 3) % limit : place, of = limit ? limit : key->extent;
  const double done = ((double)rank + unit(r[0])) / (double)of; /* [0, 1), the more the higher the rank */
  if (kw_element_is_float(dtype)) {
    const int step = (int)(64 * done);
    const double value = step < 2 ? -INFINITY : step == 62 ? INFINITY : step > 62 ? NAN : (step - 32) / 4.0;
    kw_element_store(dtype, out, value == 0 && r[1] & 1 ? -0.0 : value);
    return;
  }
  const int step = (int)(16 * done);
  const uint64_t value = step == 0    ? integer_bits(dtype, LEAST)
                         : step == 15 ? integer_bits(dtype, GREATEST)
                                      : (uint64_t)(int64_t)(dtype == KW_U8 ? step : step - 8);
  memcpy(out, &value, kw_element_size(dtype));
}

/* The inverse of the turn of a row that ascends. */
static void store_turn(const kw_value_key *key, kw_dtype dtype, uint64_t index, void *out) {
  const uint64_t limit = (uint64_t)key->limit, place = index / (key->stride ? key->stride : 1) % limit;
  const uint64_t value = (place + limit - limit / 3) % limit;
  memcpy(out, &value, kw_element_size(dtype));
}

/* A mask that hides whole blocks of keys. */
static void store_blocks(const kw_value_key *key, kw_dtype dtype, uint64_t index, const uint32_t r[4], void *out) {
  enum { BLOCK = 32, STARTS = 8 };
  const uint64_t stride = key->stride ? key->stride : 1, row = index / stride, block = index % stride / BLOCK;
  const bool hidden = block < row % STARTS || (row + block) % 3 == 2;
  if (dtype == KW_BOOL) {
    *(uint8_t *)out = !hidden && r[0] >> 8 & 7 ? 1 : 0;
  } else {
    kw_element_store(dtype, out, hidden ? -INFINITY : float_value(KW_DOMAIN_UNIT, r));
  }
}

/* A mask of numbers that are as low as can be, which are numbers all the same. */
static void store_lowest(const kw_value_key *key, kw_dtype dtype, uint64_t index, void *out) {
  const uint64_t stride = key->stride ? key->stride : 1, kind = index / stride % 4;
  const bool second_half = index % stride >= stride / 2;
  const double low = key->run ? -0x1.fffffep127 : -0x1p100;
  if (kind == 1 && !second_half) {
    store_special(dtype, S_NEG_INF, out);
  } else if (kind == 2 && second_half) {
    store_special(dtype, S_ZERO, out);
  } else if (kind == 3 && kw_element_format(dtype).max > -low) {
    kw_element_store(dtype, out, low);
  } else {
    store_special(dtype, S_NEG_MAX, out);
  }
}

static void store_pairs(const uint32_t r[4], void *out) {
  static const uint8_t pairs[] = {4, 8, 12, 9, 13, 14}; /* first + 4 * second */
  *(uint8_t *)out = (uint8_t)(pairs[r[0] % 6] | pairs[r[1] % 6] << 4);
}

/* The square of the way: the first rows are short or empty. */
static void store_row(const kw_value_key *key, kw_dtype dtype, uint64_t index, void *out) {
  const int64_t last = (int64_t)key->extent - 1, i = (int64_t)index;
  int64_t value = last > 0 ? key->limit * i / last * i / last : 0;
  if (i == last) value = key->limit;
  memcpy(out, &value, kw_element_size(dtype));
}

/* Number `which` of a box's four. The second corner follows from the first, two numbers before it. */
static double box_corner(const kw_value_key *key, uint64_t index, uint64_t which, double grid) {
  uint32_t r[4];
  kw_words_draw(mixed(key), index, key->arg, key->run, r);
  if (grid == 0) return which < 2 ? 0 : 1 << r[0] % 4;
  const double start = floor(unit(r[0]) * 12 * grid) / grid;
  if (which < 2) return start;
  kw_words_draw(mixed(key), index - 2 * (uint64_t)(key->stride ? key->stride : 1), key->arg, key->run, r);
  const double first = floor(unit(r[0]) * 12 * grid) / grid;
  const double side = r[1] % 16 == 0 ? 0 : r[1] % 32 == 1 ? -1 : 1 + floor(unit(r[2]) * 7 * grid) / grid;
  return first + side;
}

static void store_box(const kw_value_key *key, kw_dtype dtype, uint64_t index, const uint32_t r[4], void *out) {
  const bool region = key->domain == KW_DOMAIN_REGION;
  const uint64_t which = index / (key->stride ? key->stride : 1) % (region ? 5 : 4);
  double value = (double)(r[0] % (uint64_t)(key->limit > 0 ? key->limit : 1)); /* the number of an image */
  if (!region) value = box_corner(key, index, which, (double)key->limit);
  if (region && which > 0) value = box_corner(key, index, which - 1, 4);
  kw_element_store(dtype, out, value);
}

/* The bits of (limit + i / stride), run 1 backwards: no random numbers, for there are 2^32 of them to make. */
static void store_bits(const kw_value_key *key, kw_dtype dtype, uint64_t index, void *out) {
  const uint64_t turned = key->run && index < key->extent ? key->extent - 1 - index : index;
  uint64_t bits = (uint64_t)key->limit + (key->stride > 1 ? turned / key->stride : turned);
  if (dtype == KW_BOOL) bits &= 1;
  memcpy(out, &bits, kw_element_size(dtype));
}

/* A pattern of f32; NaN is a quiet one, for what arithmetic makes of others differs. */
static void store_pattern(uint32_t bits, void *out) {
  if ((bits & 0x7fffffff) > 0x7f800000) bits |= 0x400000;
  memcpy(out, &bits, sizeof bits);
}

static void store_stratum(uint64_t index, const uint32_t r[4], void *out) {
  store_pattern((uint32_t)index << 10 | (r[0] & 1023), out);
}

/* Of the stratum's pattern the upper nine bits are sign and exponent. */
static void store_partner(uint64_t index, const uint32_t r[4], void *out) {
  const uint32_t first = (uint32_t)index << 10, exponent = first >> 23 & 0xff, near = exponent + r[0] % 9;
  const uint32_t exponents[] = {r[2] >> 24, near < 4 ? 0 : near > 258 ? 254 : near - 4, exponent, 121 + r[0] % 12};
  const uint32_t kind = r[3] % 4, mantissa = kind == 2 ? (first & 0x7ffc00) | (r[2] & 1023) : r[2] & 0x7fffff;
  store_pattern((r[1] & 1) << 31 | exponents[kind] << 23 | mantissa, out);
}

/* A special value among small ones. */
static void store_rare(const kw_value_key *key, kw_dtype dtype, uint64_t index, const uint32_t r[4], void *out) {
  const uint32_t stride = key->stride ? key->stride : 1;
  const bool row = key->domain == KW_DOMAIN_SPECIAL_ROW;
  const uint64_t which = row ? index / stride : stride;
  const bool here = row ? index % stride == (index / stride * 5 + 3 + key->run) % stride : index == key->extent / 2;
  if (here && kw_element_is_float(dtype)) {
    store_special(dtype, sum_specials[which % SUM_SPECIALS], out);
  } else if (here) {
    store_special(dtype, (uint32_t)(which % kw_value_special_count(dtype)), out);
  } else {
    store_plain(KW_DOMAIN_SMALL, dtype, r, out);
  }
}

/* Special value number `which`; with `quiet` a signaling NaN is a quiet one. */
static void store_listed(kw_dtype dtype, uint32_t which, bool quiet, void *out) {
  store_special(dtype, quiet && kw_element_is_float(dtype) && which == S_SIGNALING_NAN ? S_NAN : which, out);
}

/* Element `place` of the list of special values, and behind that any bits. */
static void store_list_and_bits(kw_dtype dtype, uint64_t place, const uint32_t r[4], void *out) {
  if (place < kw_value_special_count(dtype)) {
    store_listed(dtype, (uint32_t)place, true, out);
    return;
  }
  const uint64_t bits = dtype == KW_BOOL ? r[0] & 1 : (uint64_t)r[0] << 32 | r[1];
  memcpy(out, &bits, kw_element_size(dtype));
  if (kw_element_is_nan(dtype, out)) store_special(dtype, S_NAN, out);
}

/* Element `index` of a dtype that is not complex, r: its random words. */
static void store_value(const kw_value_key *key, kw_dtype dtype, uint64_t index, const uint32_t r[4],
                        void *out_element) {
  uint32_t stride = key->stride ? key->stride : 1;
  uint64_t turned = key->run && index < key->extent ? key->extent - 1 - index : index; /* run 1: the list backwards */
  switch (key->domain) {
    case KW_DOMAIN_BITS:
      store_bits(key, dtype, index, out_element);
      break;
    case KW_DOMAIN_SPECIAL:
    case KW_DOMAIN_SPECIAL_RAW: {
      const uint32_t special = (uint32_t)(turned / stride % kw_value_special_count(dtype));
      store_listed(dtype, special, key->domain == KW_DOMAIN_SPECIAL, out_element);
      break;
    }
    case KW_DOMAIN_SPECIAL_BITS:
      store_list_and_bits(dtype, turned, r, out_element);
      break;
    case KW_DOMAIN_STRATA:
    case KW_DOMAIN_PARTNER:
      (key->domain == KW_DOMAIN_STRATA ? store_stratum : store_partner)(index, r, out_element);
      break;
    case KW_DOMAIN_SPECIAL_ROW:
    case KW_DOMAIN_SPECIAL_ONE:
      store_rare(key, dtype, index, r, out_element);
      break;
    case KW_DOMAIN_ENDS:
      store_end(key, dtype, index, r, out_element);
      break;
    case KW_DOMAIN_INDEX:
    case KW_DOMAIN_SPREAD:
      store_index(key, dtype, index, r, out_element);
      break;
    case KW_DOMAIN_ASCENDING:
      store_ascending(key, dtype, index, r, out_element);
      break;
    case KW_DOMAIN_TURN:
      store_turn(key, dtype, index, out_element);
      break;
    case KW_DOMAIN_BOX:
    case KW_DOMAIN_REGION:
      store_box(key, dtype, index, r, out_element);
      break;
    case KW_DOMAIN_STARTS:
      store_start(key, dtype, index, r, out_element);
      break;
    case KW_DOMAIN_SPARSE:
    case KW_DOMAIN_DENSE:
      store_sparse(dtype, stride, key->domain == KW_DOMAIN_DENSE, r, out_element);
      break;
    case KW_DOMAIN_PAIRS:
      store_pairs(r, out_element);
      break;
    case KW_DOMAIN_ROWS:
      store_row(key, dtype, index, out_element);
      break;
    case KW_DOMAIN_CONVERT:
      store_convert(key, dtype, index, r, out_element);
      break;
    case KW_DOMAIN_BLOCKS:
      store_blocks(key, dtype, index, r, out_element);
      break;
    case KW_DOMAIN_LOWEST:
      store_lowest(key, dtype, index, out_element);
      break;
    default:
      store_plain(key->domain, dtype, r, out_element);
  }
}

/* In conversions of complex numbers to bool it matters which parts are zero: none, one, the other, both. */
static void clear_parts(const kw_value_key *key, size_t part, uint64_t index, void *element) {
  if (key->domain != KW_DOMAIN_CONVERT) return;
  if (index & 1) memset(element, 0, part);
  if (index & 2) memset((char *)element + part, 0, part);
}

void kw_value_make(const kw_value_key *key, kw_dtype dtype, uint64_t index, void *out_element) {
  if (kw_element_is_complex(dtype)) { /* two floats, each a value of its own */
    const kw_dtype part = kw_element_part(dtype);
    kw_value_make(key, part, 2 * index, out_element);
    kw_value_make(key, part, 2 * index + 1, (char *)out_element + kw_element_size(part));
    clear_parts(key, kw_element_size(part), index, out_element);
    return;
  }
  uint32_t r[4];
  kw_words_draw(mixed(key), index, key->arg, key->run, r);
  store_value(key, dtype, index, r, out_element);
}

void kw_values_make(const kw_value_key *key, kw_dtype dtype, uint64_t count, void *out_elements) {
  const size_t size = kw_element_size(dtype);
  if (kw_element_is_complex(dtype)) {
    kw_values_make(key, kw_element_part(dtype), 2 * count, out_elements);
    for (uint64_t i = 0; i < count; i++) clear_parts(key, size / 2, i, (char *)out_elements + i * size);
    return;
  }
  char *out = out_elements;
  for (uint64_t first = 0; first < count; first += KW_WORDS_BLOCK) {
    uint32_t words[4][KW_WORDS_BLOCK];
    kw_words_draw_block(mixed(key), first, key->arg, key->run, words);
    for (uint64_t i = 0; i < KW_WORDS_BLOCK && first + i < count; i++, out += size) {
      const uint32_t r[4] = {words[0][i], words[1][i], words[2][i], words[3][i]};
      store_value(key, dtype, first + i, r, out);
    }
  }
}
