/* SPDX-License-Identifier: Apache-2.0
 *
 * Numbers by dtype: small floats are decoded and encoded bit by bit, with one rounding to nearest even.
 */
#include "number.h"

#include <math.h>
#include <string.h>

const uint8_t npu_itemsizes[] = {
#define SIZE(dtype, name, size) [dtype] = size,
    KW_DTYPE_LIST(SIZE)};

/* ---- Floats of at most 16 bits: sign, exponent, fraction ---- */

typedef struct small_float {
  int exponent_bits; /* 0: the dtype is no small float */
  int fraction_bits;
  uint32_t infinity; /* the pattern; without one, the largest finite pattern + 1, which is NaN */
} small_float;

static const small_float small_floats[] = {
    [KW_F16] = {5, 10, 0x7c00}, [KW_BF16] = {8, 7, 0x7f80}, [KW_F8E4M3FN] = {4, 3, 0x7f}, [KW_F8E5M2] = {5, 2, 0x7c}};

static int lowest_exponent(const small_float *format) {
  return 2 - (1 << (format->exponent_bits - 1));
}

static double small_decode(kw_dtype dtype, uint32_t pattern) {
  const small_float *format = &small_floats[dtype];
  uint32_t sign_bit = 1u << (format->exponent_bits + format->fraction_bits);
  uint32_t magnitude = pattern & (sign_bit - 1);
  uint32_t exponent = magnitude >> format->fraction_bits;
  uint32_t fraction = magnitude & ((1u << format->fraction_bits) - 1);
  double value;
  if (magnitude >= format->infinity) {
    value = magnitude == format->infinity && dtype != KW_F8E4M3FN ? INFINITY : NAN;
  } else if (exponent == 0) {
    value = ldexp(fraction, lowest_exponent(format) - format->fraction_bits);
  } else {
    value = ldexp(fraction + (1u << format->fraction_bits),
                  lowest_exponent(format) + (int)exponent - 1 - format->fraction_bits);
  }
  return (pattern & sign_bit) != 0 ? -value : value;
}

static uint32_t small_encode(kw_dtype dtype, double value) {
  const small_float *format = &small_floats[dtype];
  uint32_t sign = signbit(value) ? 1u << (format->exponent_bits + format->fraction_bits) : 0;
  if (isnan(value)) {
    return sign | format->infinity | 1u << (format->fraction_bits - 1);
  }
  if (isinf(value)) {
    return sign | format->infinity;
  }
  if (value == 0) {
    return sign; /* frexp has no exponent for it */
  }
  int exponent; /* of the leading bit; frexp counts from one place higher */
  frexp(value, &exponent);
  exponent = exponent - 1 > lowest_exponent(format) ? exponent - 1 : lowest_exponent(format);
  double units = rint(ldexp(fabs(value), format->fraction_bits - exponent)); /* a multiple of the last place */
  /* Exponent and fraction are one number: rounding up to the next power of two carries by itself. */
  double magnitude = ldexp(exponent - lowest_exponent(format), format->fraction_bits) + units;
  return sign | (magnitude < format->infinity ? (uint32_t)magnitude : format->infinity);
}

/* ---- Loading ---- */

npu_number npu_number_load(kw_dtype dtype, const void *item) {
  union {
    uint8_t u8;
    int8_t i8;
    int16_t i16;
    uint16_t u16;
    int32_t i32;
    int64_t i64;
    float f32;
    double f64;
  } bits = {0};
  memcpy(&bits, item, npu_itemsizes[dtype]);
  npu_number value = {.integral = dtype <= KW_I64};
  switch (dtype) {
    case KW_BOOL:
      value.i = bits.u8 != 0;
      break;
    case KW_U8:
      value.i = bits.u8;
      break;
    case KW_I8:
      value.i = bits.i8;
      break;
    case KW_I16:
      value.i = bits.i16;
      break;
    case KW_I32:
      value.i = bits.i32;
      break;
    case KW_I64:
      value.i = bits.i64;
      break;
    case KW_F32:
      value.f = bits.f32;
      break;
    case KW_F64:
      value.f = bits.f64;
      break;
    default:
      value.f = small_decode(dtype, npu_itemsizes[dtype] == 1 ? bits.u8 : bits.u16);
      break;
  }
  return value;
}

npu_number npu_number_argument(const kw_value *value) {
  npu_number number = {.integral = true};
  if (value->tag == KW_TAG_FLOAT || (value->tag == KW_TAG_SCALAR && value->kind == KW_SCALAR_F64)) {
    number.integral = false;
    number.f = value->u.f;
  } else if (value->tag == KW_TAG_SCALAR && value->kind == KW_SCALAR_BOOL) {
    number.i = value->u.b;
  } else {
    number.i = value->u.i;
  }
  return number;
}

/* ---- Storing ---- */

double npu_number_float(npu_number value) {
  return value.integral ? (double)value.i : value.f;
}

/* For a small float: a double that rounds to the same one, also from integers of more than 53 bits. Whether anything is
 * left below the bits that count is kept as one bit. */
static double small_source(npu_number value) {
  if (value.integral && (value.i > (INT64_C(1) << 53) || value.i < -(INT64_C(1) << 53))) {
    bool rest = (value.i & 0x7ff) != 0;
    value.i = (value.i & ~INT64_C(0x7ff)) | (rest ? 0x400 : 0);
  }
  return npu_number_float(value);
}

static int64_t to_integer(npu_number value, int64_t lowest, int64_t highest) {
  if (value.integral) {
    return value.i; /* the caller keeps the low bits */
  }
  if (isnan(value.f)) {
    return 0;
  }
  if (value.f <= (double)lowest) {
    return lowest;
  }
  return value.f >= (double)highest ? highest : (int64_t)value.f;
}

void npu_number_store(kw_dtype dtype, void *item, npu_number value) {
  union {
    uint8_t u8;
    uint16_t u16;
    uint32_t u32;
    uint64_t u64;
    float f32;
    double f64;
  } bits = {0};
  switch (dtype) {
    case KW_BOOL:
      bits.u8 = value.integral ? value.i != 0 : value.f != 0;
      break;
    case KW_U8:
      bits.u8 = (uint8_t)to_integer(value, 0, UINT8_MAX);
      break;
    case KW_I8:
      bits.u8 = (uint8_t)to_integer(value, INT8_MIN, INT8_MAX);
      break;
    case KW_I16:
      bits.u16 = (uint16_t)to_integer(value, INT16_MIN, INT16_MAX);
      break;
    case KW_I32:
      bits.u32 = (uint32_t)to_integer(value, INT32_MIN, INT32_MAX);
      break;
    case KW_I64:
      bits.u64 = (uint64_t)to_integer(value, INT64_MIN, INT64_MAX);
      break;
    case KW_F32:
      bits.f32 = value.integral ? (float)value.i : (float)value.f;
      break;
    case KW_F64:
      bits.f64 = npu_number_float(value);
      break;
    case KW_F8E4M3FN:
    case KW_F8E5M2:
      bits.u8 = (uint8_t)small_encode(dtype, small_source(value));
      break;
    default: /* f16, bf16 */
      bits.u16 = (uint16_t)small_encode(dtype, small_source(value));
      break;
  }
  memcpy(item, &bits, npu_itemsizes[dtype]);
}
