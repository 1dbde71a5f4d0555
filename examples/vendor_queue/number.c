/* SPDX-License-Identifier: Apache-2.0
 *
 * Loading, storing and converting numbers.
 */
#include "number.h"

#include <math.h>
#include <string.h>

/* A float of 16 bits: its exponent's and its fraction's. */
typedef struct small {
  int exponent, fraction;
} small;
static const small f16 = {5, 10}, bf16 = {8, 7};

static double small_load(small as, uint16_t bits) {
  const int bias = (1 << (as.exponent - 1)) - 1, all = (1 << as.exponent) - 1;
  const int exponent = bits >> as.fraction & all, fraction = bits & ((1 << as.fraction) - 1);
  double value = exponent == all ? (fraction != 0 ? (double)NAN : (double)INFINITY)
                 : exponent == 0 ? ldexp(fraction, 1 - bias - as.fraction)
                                 : ldexp(fraction + (1 << as.fraction), exponent - bias - as.fraction);
  return bits >> 15 ? -value : value;
}

static uint16_t small_store(small as, double value) {
  const int bias = (1 << (as.exponent - 1)) - 1, all = (1 << as.exponent) - 1;
  const uint16_t sign = (uint16_t)(signbit(value) ? 0x8000 : 0);
  if (isnan(value)) return (uint16_t)(sign | all << as.fraction | 1 << (as.fraction - 1));
  if (value == 0) return sign;
  const double size = fabs(value);
  int exponent = isinf(size) ? bias + 1 : ilogb(size);
  if (exponent < 1 - bias) exponent = 1 - bias;
  if (exponent > bias) return (uint16_t)(sign | all << as.fraction);
  const double steps = nearbyint(ldexp(size, as.fraction - exponent)); /* of the last place; up to 2^(fraction + 1) */
  const int rounded = (int)steps + ((exponent + bias - 1) << as.fraction);
  return (uint16_t)(sign | (rounded > all << as.fraction ? all << as.fraction : rounded));
}

/* An integer as a double that rounds to any smaller float as the integer does: the last of its bits stands for all that
 * are cut off. */
static double rounds_alike(int64_t integer) {
  const uint64_t size = integer < 0 ? 0 - (uint64_t)integer : (uint64_t)integer, cut = 0x7ff;
  const uint64_t kept = size >> 53 == 0 ? size : (size & ~cut) | ((size & cut) != 0 ? cut + 1 : 0);
  return integer < 0 ? -(double)kept : (double)kept;
}

uint32_t number_size(kw_dtype dtype) {
  switch (dtype) {
    case KW_I16:
    case KW_F16:
    case KW_BF16:
      return 2;
    case KW_I32:
    case KW_F32:
      return 4;
    case KW_I64:
    case KW_F64:
      return 8;
    default:
      return 1;
  }
}

number number_load(kw_dtype dtype, const void *item) {
  int8_t i8;
  uint8_t u8;
  int16_t i16;
  uint16_t u16;
  int32_t i32;
  int64_t i64;
  float f32;
  double f64;
  switch (dtype) {
    case KW_BOOL:
    case KW_U8:
      memcpy(&u8, item, sizeof u8);
      return number_integer(dtype == KW_BOOL ? u8 != 0 : u8);
    case KW_I8:
      memcpy(&i8, item, sizeof i8);
      return number_integer(i8);
    case KW_I16:
      memcpy(&i16, item, sizeof i16);
      return number_integer(i16);
    case KW_I32:
      memcpy(&i32, item, sizeof i32);
      return number_integer(i32);
    case KW_I64:
      memcpy(&i64, item, sizeof i64);
      return number_integer(i64);
    case KW_F32:
      memcpy(&f32, item, sizeof f32);
      return number_real((double)f32);
    case KW_F64:
      memcpy(&f64, item, sizeof f64);
      return number_real(f64);
    default:
      memcpy(&u16, item, sizeof u16);
      return number_real(small_load(dtype == KW_F16 ? f16 : bf16, u16));
  }
}

static int64_t saturated(double value, int64_t low, int64_t high) {
  if (isnan(value)) return 0;
  if (value <= (double)low) return low;
  return value >= (double)high ? high : (int64_t)value;
}

void number_store(kw_dtype dtype, void *item, number value) {
  static const struct {
    int64_t low, high;
  } ranges[] = {[KW_U8] = {0, UINT8_MAX},
                [KW_I8] = {INT8_MIN, INT8_MAX},
                [KW_I16] = {INT16_MIN, INT16_MAX},
                [KW_I32] = {INT32_MIN, INT32_MAX},
                [KW_I64] = {INT64_MIN, INT64_MAX}};
  const double real = number_as_real(value);
  if (dtype == KW_BOOL) {
    const uint8_t is = value.integral ? value.i != 0 : real != 0;
    memcpy(item, &is, 1);
  } else if (KW_DTYPE_BIT(dtype) & CHIP_INTEGERS) { /* the low bytes: this chip is little-endian, as its host is */
    const int64_t whole = value.integral ? value.i : saturated(real, ranges[dtype].low, ranges[dtype].high);
    memcpy(item, &whole, number_size(dtype));
  } else if (dtype == KW_F32) {
    const float f32 = value.integral ? (float)value.i : (float)real;
    memcpy(item, &f32, sizeof f32);
  } else if (dtype == KW_F64) {
    memcpy(item, &real, sizeof real);
  } else {
    const uint16_t bits = small_store(dtype == KW_F16 ? f16 : bf16, value.integral ? rounds_alike(value.i) : real);
    memcpy(item, &bits, sizeof bits);
  }
}

number number_of(const kw_value *value) {
  if (value->tag == KW_TAG_INT || value->kind == KW_SCALAR_I64) return number_integer(value->u.i);
  if (value->tag == KW_TAG_SCALAR && value->kind == KW_SCALAR_BOOL) return number_integer(value->u.b);
  return number_real(value->u.f);
}
