/* SPDX-License-Identifier: Apache-2.0
 *
 * Numbers in memory: one element of any dtype read, written, converted and rounded once.
 */
#include "number.h"

#include <math.h>
#include <string.h>

size_t kw_number_size(kw_dtype dtype) {
  static const uint8_t sizes[] = {
#define SIZE(dtype, name, size) [dtype] = size,
      KW_DTYPE_LIST(SIZE)};
  if (dtype == KW_DTYPE_WIDE) return sizeof(kw_wide);
  if (dtype == KW_DTYPE_WIDE_PAIR) return 2 * sizeof(kw_wide);
  return dtype < sizeof sizes ? sizes[dtype] : 0;
}

bool kw_number_is_integer(kw_dtype dtype) {
  return dtype <= KW_I64;
}

bool kw_number_is_float(kw_dtype dtype) {
  return dtype >= KW_F16 && dtype <= KW_F8E5M2;
}

static bool is_complex(kw_dtype dtype) {
  return dtype == KW_C64 || dtype == KW_C128;
}

kw_dtype kw_number_promote(kw_dtype a, kw_dtype b) {
  if (a == b) return a;
  bool a_float = !kw_number_is_integer(a), b_float = !kw_number_is_integer(b);
  if (a_float != b_float) return a_float ? a : b;
  if (a_float) { /* two unlike floats: f16 with bf16 has no common dtype below f32 */
    return a == KW_F64 || b == KW_F64 ? KW_F64 : KW_F32;
  }
  kw_dtype low = a < b ? a : b, high = a < b ? b : a;
  return low == KW_U8 && high == KW_I8 ? KW_I16 : high; /* the numbers of the integer dtypes ascend by width */
}

/* ---- Narrow floats --------------------------------------------------------------------------------------------- */

typedef struct kw_format {
  int exponent_bits;
  int fraction_bits;
  bool has_infinity; /* if not, the largest exponent holds numbers too, and only all ones is NaN */
} kw_format;

static kw_format format_of(kw_dtype dtype) {
  switch (dtype) {
    case KW_F16:
      return (kw_format){5, 10, true};
    case KW_BF16:
      return (kw_format){8, 7, true};
    case KW_F8E4M3FN:
      return (kw_format){4, 3, false};
    default:
      return (kw_format){5, 2, true};
  }
}

bool kw_number_is_narrow(kw_dtype dtype) {
  return dtype == KW_F16 || dtype == KW_BF16 || dtype == KW_F8E4M3FN || dtype == KW_F8E5M2;
}

static uint32_t nan_bits(kw_format format) {
  uint32_t exponent = ((1u << format.exponent_bits) - 1) << format.fraction_bits;
  return exponent | (format.has_infinity ? 1u << (format.fraction_bits - 1) : (1u << format.fraction_bits) - 1);
}

/* What an overflow becomes: infinity, or NaN where the format has none. */
static uint32_t overflow_bits(kw_format format) {
  uint32_t exponent = ((1u << format.exponent_bits) - 1) << format.fraction_bits;
  return format.has_infinity ? exponent : nan_bits(format);
}

uint32_t kw_number_pack(kw_dtype dtype, kw_unpacked number) {
  kw_format format = format_of(dtype);
  int bias = (1 << (format.exponent_bits - 1)) - 1;
  uint32_t sign = (uint32_t)number.negative << (format.exponent_bits + format.fraction_bits);

  /* The exponent field of the number if it is normal; below 1 it is subnormal and keeps fewer bits. */
  int field = number.exponent + 63 + bias;
  int kept = format.fraction_bits + 1 + (field < 1 ? field - 1 : 0);
  if (field < 1) field = 1;
  if (kept < 0) return sign; /* below half of the smallest subnormal */

  int cut = 64 - kept; /* at least 53; 64 when only the rounding decides */
  uint64_t whole = cut == 64 ? 0 : number.significand >> cut;
  uint64_t rest = cut == 64 ? number.significand : number.significand << kept;
  uint64_t half = UINT64_C(1) << 63;
  bool up = rest > half || (rest == half && (number.sticky || (whole & 1)));
  whole += up;

  /* The implicit bit counts as one step of the exponent field, so that a carry out of the fraction lands in it. */
  uint64_t bits = ((uint64_t)(field - 1) << format.fraction_bits) + whole;
  uint32_t limit = overflow_bits(format); /* above all finite numbers */
  return sign | (bits > limit ? limit : (uint32_t)bits);
}

/* The same number with the top bit of its significand set. */
static kw_unpacked normalized(kw_unpacked number) {
  while (!(number.significand >> 63)) {
    number.significand <<= 1;
    number.exponent--;
  }
  return number;
}

static uint32_t pack_double(kw_dtype dtype, double value) {
  kw_format format = format_of(dtype);
  uint32_t sign = (uint32_t)(signbit(value) != 0) << (format.exponent_bits + format.fraction_bits);
  if (isnan(value)) return sign | nan_bits(format);
  if (isinf(value)) return sign | overflow_bits(format);
  if (value == 0) return sign;
  uint64_t bits, hidden = UINT64_C(1) << 52;
  memcpy(&bits, &value, sizeof bits);
  int field = (int)(bits >> 52 & 0x7ff);
  kw_unpacked number = {bits & (hidden - 1), (field ? field : 1) - 1075, sign != 0, false};
  if (field) number.significand |= hidden;
  return kw_number_pack(dtype, normalized(number));
}

static uint32_t pack_int(kw_dtype dtype, int64_t value) {
  if (value == 0) return 0;
  kw_unpacked number = {value < 0 ? 0 - (uint64_t)value : (uint64_t)value, 0, value < 0, false};
  return kw_number_pack(dtype, normalized(number));
}

/* 2^exponent, which is normal. */
static double power_of_two(int exponent) {
  uint64_t bits = (uint64_t)(exponent + 1023) << 52;
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static double unpack(kw_dtype dtype, uint32_t bits) {
  kw_format format = format_of(dtype);
  int bias = (1 << (format.exponent_bits - 1)) - 1;
  uint32_t magnitude = bits & ((1u << (format.exponent_bits + format.fraction_bits)) - 1);
  double sign = bits == magnitude ? 1 : -1;
  uint32_t field = magnitude >> format.fraction_bits;
  uint32_t fraction = magnitude & ((1u << format.fraction_bits) - 1);
  if (format.has_infinity ? magnitude > overflow_bits(format) : magnitude == nan_bits(format))
    return copysign((double)NAN, sign);
  if (format.has_infinity && magnitude == overflow_bits(format)) return sign * (double)INFINITY;
  if (field == 0) return sign * fraction * power_of_two(1 - bias - format.fraction_bits);
  fraction += 1u << format.fraction_bits;
  return sign * fraction * power_of_two((int)field - bias - format.fraction_bits);
}

/* ---- Elements -------------------------------------------------------------------------------------------------- */

static void store_narrow(kw_dtype dtype, void *at, uint32_t bits) {
  if (kw_number_size(dtype) == 1) {
    uint8_t byte = (uint8_t)bits;
    memcpy(at, &byte, sizeof byte);
  } else {
    uint16_t pair = (uint16_t)bits;
    memcpy(at, &pair, sizeof pair);
  }
}

double kw_number_load(kw_dtype dtype, const void *at) {
  switch (dtype) {
    case KW_F32:
    case KW_C64: {
      float value;
      memcpy(&value, at, sizeof value);
      return (double)value;
    }
    case KW_F64:
    case KW_C128:
    case KW_DTYPE_WIDE: {
      double value;
      memcpy(&value, at, sizeof value);
      return value;
    }
    case KW_F16:
    case KW_BF16: {
      uint16_t bits;
      memcpy(&bits, at, sizeof bits);
      return unpack(dtype, bits);
    }
    case KW_F8E4M3FN:
    case KW_F8E5M2: {
      uint8_t bits;
      memcpy(&bits, at, sizeof bits);
      return unpack(dtype, bits);
    }
    default:
      return (double)kw_number_load_int(dtype, at);
  }
}

int64_t kw_number_load_int(kw_dtype dtype, const void *at) {
  uint8_t byte;
  uint16_t bits16;
  uint32_t bits32;
  int64_t value;
  switch (dtype) {
    case KW_BOOL:
    case KW_U8:
    case KW_I8:
      memcpy(&byte, at, sizeof byte);
      if (dtype == KW_BOOL) return byte != 0;
      return dtype == KW_U8 ? byte : (int8_t)byte;
    case KW_I16:
      memcpy(&bits16, at, sizeof bits16);
      return (int16_t)bits16;
    case KW_I32:
      memcpy(&bits32, at, sizeof bits32);
      return (int32_t)bits32;
    default:
      memcpy(&value, at, sizeof value);
      return value;
  }
}

/* The nearest value that an integer dtype has; NaN becomes 0. */
static int64_t saturate(kw_dtype dtype, double value) {
  static const int64_t low[] = {0, 0, INT8_MIN, INT16_MIN, INT32_MIN, INT64_MIN};
  static const int64_t high[] = {1, UINT8_MAX, INT8_MAX, INT16_MAX, INT32_MAX, INT64_MAX};
  if (isnan(value)) return 0;
  if (value <= (double)low[dtype]) return low[dtype];
  if (value >= (double)high[dtype]) return high[dtype]; /* (double)INT64_MAX is 2^63, which does not fit */
  return (int64_t)value;
}

void kw_number_store(kw_dtype dtype, void *at, double value) {
  switch (dtype) {
    case KW_BOOL:
      kw_number_store_int(dtype, at, value != 0); /* NaN is not zero */
      return;
    case KW_F32:
    case KW_C64: {
      float parts[2] = {(float)value, 0};
      memcpy(at, parts, kw_number_size(dtype));
      return;
    }
    case KW_F64:
    case KW_C128:
    case KW_DTYPE_WIDE: {
      double parts[2] = {value, 0};
      memcpy(at, parts, kw_number_size(dtype));
      return;
    }
    default:
      if (kw_number_is_narrow(dtype)) {
        store_narrow(dtype, at, pack_double(dtype, value));
      } else {
        kw_number_store_int(dtype, at, saturate(dtype, value));
      }
  }
}

void kw_number_store_int(kw_dtype dtype, void *at, int64_t value) {
  switch (dtype) {
    case KW_BOOL: {
      uint8_t byte = value != 0;
      memcpy(at, &byte, 1);
      return;
    }
    case KW_U8:
    case KW_I8: {
      uint8_t byte = (uint8_t)value; /* two's complement: a signed value wraps to the same bits */
      memcpy(at, &byte, sizeof byte);
      return;
    }
    case KW_I16: {
      uint16_t bits = (uint16_t)value;
      memcpy(at, &bits, sizeof bits);
      return;
    }
    case KW_I32: {
      uint32_t bits = (uint32_t)value;
      memcpy(at, &bits, sizeof bits);
      return;
    }
    case KW_I64:
      memcpy(at, &value, sizeof value);
      return;
    case KW_F32:
    case KW_C64: {
      float parts[2] = {(float)value, 0};
      memcpy(at, parts, kw_number_size(dtype));
      return;
    }
    default:
      if (kw_number_is_narrow(dtype)) {
        store_narrow(dtype, at, pack_int(dtype, value));
      } else {
        kw_number_store(dtype, at, (double)value);
      }
  }
}

static double load_imaginary(kw_dtype dtype, const void *at) {
  if (dtype == KW_C64) return kw_number_load(KW_F32, (const char *)at + sizeof(float));
  return kw_number_load(KW_F64, (const char *)at + sizeof(double));
}

void kw_number_convert(kw_dtype from_dtype, const void *from, kw_dtype to_dtype, void *to) {
  if (from_dtype == to_dtype) {
    memcpy(to, from, kw_number_size(to_dtype));
  } else if (kw_number_is_integer(from_dtype)) {
    kw_number_store_int(to_dtype, to, kw_number_load_int(from_dtype, from));
  } else if (!is_complex(from_dtype)) {
    kw_number_store(to_dtype, to, kw_number_load(from_dtype, from));
  } else {
    double real = kw_number_load(from_dtype, from), imaginary = load_imaginary(from_dtype, from);
    if (to_dtype == KW_BOOL) {
      kw_number_store_int(KW_BOOL, to, real != 0 || imaginary != 0);
      return;
    }
    kw_number_store(to_dtype, to, real);
    if (to_dtype == KW_C64) kw_number_store(KW_F32, (char *)to + sizeof(float), imaginary);
    if (to_dtype == KW_C128) kw_number_store(KW_F64, (char *)to + sizeof(double), imaginary);
  }
}
