/* SPDX-License-Identifier: Apache-2.0
 *
 * One element of any dtype.
 */
#include "case/element.h"

#include <math.h>
#include <string.h>

static const char *const names[] = {
#define NAME(dtype, name, size) [dtype] = name,
    KW_DTYPE_LIST(NAME)};

const uint8_t kw_element_sizes[KW_DTYPE_COUNT] = {
#define SIZE(dtype, name, size) [dtype] = size,
    KW_DTYPE_LIST(SIZE)};

const kw_float_format kw_element_formats[KW_DTYPE_COUNT] = {
    [KW_F16] = {11, -14, 15, 65504.0},          [KW_BF16] = {8, -126, 127, 0x1.fep127},
    [KW_F32] = {24, -126, 127, 0x1.fffffep127}, [KW_F64] = {53, -1022, 1023, 0x1.fffffffffffffp1023},
    [KW_F8E4M3FN] = {4, -6, 8, 448.0},          [KW_F8E5M2] = {3, -14, 15, 57344.0},
};

bool kw_element_is_complex(kw_dtype dtype) {
  return dtype == KW_C64 || dtype == KW_C128;
}

bool kw_element_is_integer(kw_dtype dtype) {
  return dtype >= KW_U8 && dtype <= KW_I64;
}

const char *kw_element_name(kw_dtype dtype) {
  if (dtype == KW_DTYPE_WIDE) return "wide";
  return dtype < KW_DTYPE_COUNT ? names[dtype] : "unknown dtype";
}

kw_dtype kw_element_from_name(const char *name, size_t length) {
  for (kw_dtype d = 0; d < KW_DTYPE_COUNT; d++) {
    if (strlen(names[d]) == length && memcmp(names[d], name, length) == 0) return d;
  }
  return KW_DTYPE_NONE;
}

void kw_element_set_absolute(kw_dtype dtype, void *element) {
  if (kw_element_is_float(dtype)) ((unsigned char *)element)[kw_element_size(dtype) - 1] &= 0x7f;
}

kw_dtype kw_element_compute(kw_dtype dtype) {
  return dtype == KW_F64 || dtype == KW_C128 ? KW_F64 : KW_F32;
}

/* A double in parts: |x| = significand * 2^exponent, with 53 bits unless it is 0 or subnormal. */
typedef struct parts {
  uint64_t significand;
  int exponent;
  bool negative;
} parts;

static parts take_apart(double x) {
  uint64_t bits, fraction_mask = (UINT64_C(1) << 52) - 1;
  memcpy(&bits, &x, sizeof bits);
  int field = (int)(bits >> 52 & 0x7ff);
  uint64_t hidden = field ? UINT64_C(1) << 52 : 0;
  return (parts){(bits & fraction_mask) | hidden, (field ? field : 1) - 1075, bits >> 63};
}

double kw_element_spacing(kw_float_format format, kw_wide x) {
  parts p = take_apart(x.hi);
  int exponent = p.significand >> 52 ? p.exponent + 52 : format.emin;
  bool toward_zero = (x.hi > 0 && x.lo < 0) || (x.hi < 0 && x.lo > 0);
  bool power_of_two = p.significand == UINT64_C(1) << 52;
  if (power_of_two && (x.lo == 0 || toward_zero)) exponent--; /* a power of two belongs to the binade below it */
  if (exponent < format.emin) exponent = format.emin;
  return kw_element_pow2(exponent - format.precision + 1);
}

double kw_element_round(kw_dtype dtype, kw_wide x) {
  if (isnan(x.hi) || isinf(x.hi) || x.hi == 0) return x.hi;
  if (dtype == KW_F64) return x.hi + x.lo; /* another number only past the largest one */
  kw_float_format format = kw_element_format(dtype);
  parts p = take_apart(x.hi);
  double sign = p.negative ? -1.0 : 1.0, lo = x.lo * sign;
  int quantum = (p.exponent + 52 < format.emin ? format.emin : p.exponent + 52) - format.precision + 1;
  int cut = quantum - p.exponent; /* bits below the quantum */
  if (cut > 53) return sign * 0.0;
  uint64_t whole = p.significand >> cut, rest = p.significand - (whole << cut), half = UINT64_C(1) << (cut - 1);
  /* With lo < 0 and no rest x is just below a representable value and rounds to it. */
  if (rest > half || (rest == half && (lo > 0 || (lo == 0 && whole & 1)))) whole++;
  double magnitude = (double)whole * kw_element_pow2(quantum);
  if (magnitude > format.max) return sign * (dtype == KW_F8E4M3FN ? (double)NAN : (double)INFINITY);
  return sign * magnitude;
}

/* The bits of a value that the format holds exactly. */
static uint32_t encode_small(kw_dtype dtype, double value) {
  kw_float_format format = kw_element_format(dtype);
  int total = (int)kw_element_size(dtype) * 8;
  int fraction_bits = format.precision - 1;
  uint32_t sign = signbit(value) ? 1u << (total - 1) : 0;
  uint32_t exponent_mask = (1u << (total - 1 - fraction_bits)) - 1;
  if (isnan(value)) {
    if (dtype == KW_F8E4M3FN) return sign | 0x7f;
    return sign | exponent_mask << fraction_bits | 1u << (fraction_bits - 1);
  }
  if (isinf(value)) return sign | exponent_mask << fraction_bits;
  if (value == 0) return sign;
  parts p = take_apart(value);
  int exponent = p.exponent + 52, below = exponent < format.emin ? format.emin - exponent : 0;
  uint32_t significand = (uint32_t)(p.significand >> (52 - fraction_bits + below)); /* the hidden bit included */
  if (below) return sign | significand;
  return sign | (((uint32_t)(exponent - format.emin) << fraction_bits) + significand);
}

static double decode_small(kw_dtype dtype, uint32_t bits) {
  kw_float_format format = kw_element_format(dtype);
  int total = (int)kw_element_size(dtype) * 8;
  int fraction_bits = format.precision - 1;
  uint32_t exponent_mask = (1u << (total - 1 - fraction_bits)) - 1;
  double sign = bits >> (total - 1) ? -1.0 : 1.0;
  uint32_t exponent = bits >> fraction_bits & exponent_mask;
  uint32_t fraction = bits & ((1u << fraction_bits) - 1);
  if (dtype == KW_F8E4M3FN) {
    if ((bits & 0x7f) == 0x7f) return sign * (double)NAN;
  } else if (exponent == exponent_mask) {
    return sign * (fraction ? (double)NAN : (double)INFINITY);
  }
  uint32_t significand = exponent ? fraction + (1u << fraction_bits) : fraction;
  return sign * significand * kw_element_pow2((int)(exponent ? exponent - 1 : 0) + format.emin - fraction_bits);
}

static int64_t load_integer(kw_dtype dtype, const void *element) {
  switch (dtype) {
    case KW_BOOL:
      return *(const uint8_t *)element != 0;
    case KW_U8:
      return *(const uint8_t *)element;
    case KW_I8:
      return *(const int8_t *)element;
    case KW_I16: {
      int16_t v;
      memcpy(&v, element, sizeof v);
      return v;
    }
    case KW_I32: {
      int32_t v;
      memcpy(&v, element, sizeof v);
      return v;
    }
    default: {
      int64_t v;
      memcpy(&v, element, sizeof v);
      return v;
    }
  }
}

static uint32_t load_bits(size_t size, const void *element) {
  if (size == 1) return *(const uint8_t *)element;
  uint16_t v;
  memcpy(&v, element, sizeof v);
  return v;
}

double kw_element_load(kw_dtype dtype, const void *element) {
  switch (dtype) {
    case KW_F32: {
      float v;
      memcpy(&v, element, sizeof v);
      return v;
    }
    case KW_F64: {
      double v;
      memcpy(&v, element, sizeof v);
      return v;
    }
    case KW_F16:
    case KW_BF16:
    case KW_F8E4M3FN:
    case KW_F8E5M2:
      return decode_small(dtype, load_bits(kw_element_size(dtype), element));
    default:
      return (double)load_integer(dtype, element);
  }
}

kw_wide kw_element_load_wide(kw_dtype dtype, const void *element) {
  if (dtype == KW_DTYPE_WIDE) {
    kw_wide wide;
    memcpy(&wide, element, sizeof wide);
    return wide;
  }
  if (dtype == KW_I64) {
    int64_t v = load_integer(dtype, element);
    int64_t low = v & 0xffff;
    kw_wide wide = {(double)(v - low), (double)low}; /* two exact parts; made canonical below */
    double sum = wide.hi + wide.lo;
    wide.lo -= sum - wide.hi;
    wide.hi = sum;
    return wide;
  }
  return (kw_wide){kw_element_load(dtype, element), 0};
}

static void store_integer(kw_dtype dtype, void *element, int64_t value) {
  /* the low bytes: two's complement wrap on a little-endian host */
  memcpy(element, &value, kw_element_size(dtype));
}

static int64_t saturate(kw_dtype dtype, double value) {
  if (isnan(value)) return 0;
  value = trunc(value);
  if (dtype == KW_U8) return value <= 0 ? 0 : value >= 255 ? 255 : (int64_t)value;
  double limit = ldexp(1.0, (int)kw_element_size(dtype) * 8 - 1);
  if (value >= limit) return dtype == KW_I64 ? INT64_MAX : (int64_t)limit - 1;
  if (value < -limit) return dtype == KW_I64 ? INT64_MIN : (int64_t)-limit;
  return (int64_t)value;
}

static void store_wide(kw_dtype dtype, void *element, kw_wide value) {
  bool by_hardware = dtype == KW_F32 && value.lo == 0; /* the conversion below rounds in the same way */
  double rounded = by_hardware ? value.hi : kw_element_round(dtype, value);
  if (dtype == KW_F64) {
    memcpy(element, &rounded, sizeof rounded);
  } else if (dtype == KW_F32) {
    float f = (float)rounded;
    memcpy(element, &f, sizeof f);
  } else {
    uint32_t bits = encode_small(dtype, rounded);
    memcpy(element, &bits, kw_element_size(dtype));
  }
}

void kw_element_store(kw_dtype dtype, void *element, double value) {
  if (dtype == KW_BOOL) {
    *(uint8_t *)element = value != 0;
  } else if (kw_element_is_integer(dtype)) {
    store_integer(dtype, element, saturate(dtype, value));
  } else {
    store_wide(dtype, element, (kw_wide){value, 0});
  }
}

kw_dtype kw_element_part(kw_dtype dtype) {
  return dtype == KW_C64 ? KW_F32 : dtype == KW_C128 ? KW_F64 : dtype;
}

void kw_element_convert(kw_dtype to, void *dst, kw_dtype from, const void *src) {
  if (to == from) {
    memcpy(dst, src, kw_element_size(to));
  } else if (kw_element_is_complex(to)) {
    kw_dtype part = kw_element_part(to);
    size_t size = kw_element_size(part);
    memset(dst, 0, 2 * size);
    kw_element_convert(part, dst, kw_element_part(from), src);
    if (!kw_element_is_complex(from)) return;
    kw_element_convert(part, (char *)dst + size, kw_element_part(from), (const char *)src + kw_element_size(from) / 2);
  } else if (kw_element_is_float(from)) {
    kw_element_store(to, dst, kw_element_load(from, src));
  } else if (kw_element_is_float(to)) {
    store_wide(to, dst, kw_element_load_wide(from, src));
  } else {
    int64_t value = load_integer(from, src);
    store_integer(to, dst, to == KW_BOOL ? value != 0 : value);
  }
}

bool kw_element_is_nan(kw_dtype dtype, const void *element) {
  return kw_element_is_float(dtype) && isnan(kw_element_load(dtype, element));
}

bool kw_element_is_subnormal(kw_dtype dtype, const void *element) {
  if (!kw_element_is_float(dtype)) return false;
  double value = fabs(kw_element_load(dtype, element));
  return value > 0 && value < ldexp(1.0, kw_element_format(dtype).emin);
}

bool kw_element_holds_integers(kw_dtype dtype, int64_t low, int64_t high) {
  if (dtype == KW_BOOL) return low >= 0 && high <= 1;
  if (kw_element_is_float(dtype)) {
    int64_t limit = INT64_C(1) << kw_element_format(dtype).precision;
    return low >= -limit && high <= limit;
  }
  if (dtype == KW_I64) return true;
  int bits = (int)kw_element_size(dtype) * 8;
  int64_t limit = INT64_C(1) << (dtype == KW_U8 ? bits : bits - 1);
  return low >= (dtype == KW_U8 ? 0 : -limit) && high < limit;
}
