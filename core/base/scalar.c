/* SPDX-License-Identifier: Apache-2.0
 *
 * Scalars as numbers of a dtype: rounding, conversion, the bytes of one element.
 */
#include "base/scalar.h"

#include <math.h>
#include <string.h>

/* A small binary float: sign, exponent, fraction. */
typedef struct small_float {
  int exponent_bits, fraction_bits;
  bool has_infinity; /* otherwise all-ones is the only NaN and the rest of the top binade is finite */
} small_float;

static uint32_t encode(double value, small_float format) {
  const uint32_t sign = (signbit(value) ? 1u : 0u) << (format.exponent_bits + format.fraction_bits);
  const uint32_t top = (1u << (format.exponent_bits + format.fraction_bits)) - 1;
  const int bias = (1 << (format.exponent_bits - 1)) - 1;
  const uint32_t infinity = ((1u << format.exponent_bits) - 1) << format.fraction_bits;
  const uint32_t nan = format.has_infinity ? infinity | 1u << (format.fraction_bits - 1) : top;
  const double magnitude = fabs(value);
  if (isnan(value)) return sign | nan;
  if (isinf(value)) return sign | (format.has_infinity ? infinity : nan);
  if (magnitude == 0) return sign;
  int exponent;
  frexp(magnitude, &exponent); /* magnitude in [2^(exponent-1), 2^exponent) */
  int binade = exponent - 1 < 1 - bias ? 1 - bias : exponent - 1;
  /* In units of the last place the value is exact in a double, and rint rounds it to even. A carry into the next binade
   * is what the encoding's order gives by itself. */
  uint32_t units = (uint32_t)rint(ldexp(magnitude, format.fraction_bits - binade));
  uint32_t bits = units + ((uint32_t)(binade + bias - 1) << format.fraction_bits);
  uint32_t limit = format.has_infinity ? infinity : nan;
  if (binade + bias > (1 << format.exponent_bits) || bits >= limit) return sign | limit;
  return sign | bits;
}

static int64_t to_integer(double value, int64_t low, int64_t high) {
  if (isnan(value)) return 0;
  if (value <= (double)low) return low;
  if (value >= (double)high) return high;
  return (int64_t)value;
}

double kw_scalar_real(const kw_value *scalar) {
  switch (scalar->kind) {
    case KW_SCALAR_BOOL:
      return scalar->u.b ? 1 : 0;
    case KW_SCALAR_I64:
      return (double)scalar->u.i;
    case KW_SCALAR_F64:
      return scalar->u.f;
    default:
      return scalar->u.c[0];
  }
}

static int64_t as_integer(const kw_value *scalar, int64_t low, int64_t high) {
  if (scalar->kind == KW_SCALAR_BOOL) return scalar->u.b;
  if (scalar->kind == KW_SCALAR_I64) return scalar->u.i;
  return to_integer(kw_scalar_real(scalar), low, high);
}

void kw_scalar_store(const kw_value *scalar, kw_dtype dtype, void *out_element) {
  static const small_float f16 = {5, 10, true}, bf16 = {8, 7, true}, e4m3fn = {4, 3, false}, e5m2 = {5, 2, true};
  double real = kw_scalar_real(scalar), imaginary = scalar->kind == KW_SCALAR_C128 ? scalar->u.c[1] : 0;
  uint8_t u8;
  uint16_t u16;
  uint32_t u32;
  float f32[2] = {scalar->kind == KW_SCALAR_I64 ? (float)scalar->u.i : (float)real, (float)imaginary};
  double f64[2] = {real, imaginary};
  int64_t i64;
  switch (dtype) {
    case KW_BOOL:
      u8 = scalar->kind == KW_SCALAR_I64 ? scalar->u.i != 0 : real != 0 || imaginary != 0;
      memcpy(out_element, &u8, 1);
      break;
    case KW_U8:
      u8 = (uint8_t)as_integer(scalar, 0, UINT8_MAX);
      memcpy(out_element, &u8, 1);
      break;
    case KW_I8:
      u8 = (uint8_t)as_integer(scalar, INT8_MIN, INT8_MAX);
      memcpy(out_element, &u8, 1);
      break;
    case KW_I16:
      u16 = (uint16_t)as_integer(scalar, INT16_MIN, INT16_MAX);
      memcpy(out_element, &u16, 2);
      break;
    case KW_I32:
      u32 = (uint32_t)as_integer(scalar, INT32_MIN, INT32_MAX);
      memcpy(out_element, &u32, 4);
      break;
    case KW_I64:
      i64 = as_integer(scalar, INT64_MIN, INT64_MAX);
      memcpy(out_element, &i64, 8);
      break;
    case KW_F16:
    case KW_BF16:
      u16 = (uint16_t)encode(real, dtype == KW_F16 ? f16 : bf16);
      memcpy(out_element, &u16, 2);
      break;
    case KW_F8E4M3FN:
    case KW_F8E5M2:
      u8 = (uint8_t)encode(real, dtype == KW_F8E4M3FN ? e4m3fn : e5m2);
      memcpy(out_element, &u8, 1);
      break;
    case KW_F32:
      memcpy(out_element, f32, 4);
      break;
    case KW_F64:
      memcpy(out_element, f64, 8);
      break;
    case KW_C64:
      memcpy(out_element, f32, 8);
      break;
    case KW_C128:
      memcpy(out_element, f64, 16);
      break;
    default:
      break;
  }
}
