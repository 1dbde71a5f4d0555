/* SPDX-License-Identifier: Apache-2.0
 *
 * Tensors as text for people.
 */
#include "base/error.h"
#include "tensor/tensor.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ABBREVIATE_OVER 1000 /* elements */
#define EDGE 3               /* elements shown at each end of an abbreviated dimension */

/* snprintf's rules: counts what does not fit. */
typedef struct writer {
  char *text;
  size_t size, used;
} writer;

static void put(writer *out, const char *text) {
  size_t length = strlen(text);
  if (out->used < out->size) {
    size_t room = out->size - out->used - 1, take = length < room ? length : room;
    memcpy(out->text + out->used, text, take);
    out->text[out->used + take] = 0;
  }
  out->used += length;
}

/* ---- Numbers ---------------------------------------------------------------------------------------------------- */

/* A floating-point format of at most 16 bits: sign, exponent, mantissa. */
static double decode_small_float(uint32_t bits, int exponent_bits, int mantissa_bits, bool has_infinity) {
  int bias = (1 << (exponent_bits - 1)) - 1;
  int exponent = (int)(bits >> mantissa_bits) & ((1 << exponent_bits) - 1);
  int mantissa = (int)bits & ((1 << mantissa_bits) - 1);
  bool negative = (bits >> (exponent_bits + mantissa_bits) & 1) != 0;
  bool top = exponent == (1 << exponent_bits) - 1;
  double value;
  if (top && has_infinity) {
    value = mantissa == 0 ? INFINITY : NAN;
  } else if (top && mantissa == (1 << mantissa_bits) - 1) {
    value = NAN;
  } else if (exponent == 0) {
    value = ldexp(mantissa, 1 - bias - mantissa_bits);
  } else {
    value = ldexp(mantissa + (1 << mantissa_bits), exponent - bias - mantissa_bits);
  }
  return negative ? -value : value;
}

/* The fewest digits that lie nearer to the value than to its neighbours. */
static void put_float(writer *out, double value, int mantissa_bits, bool with_sign) {
  char text[40];
  if (isnan(value)) {
    put(out, with_sign ? "+nan" : "nan");
    return;
  }
  if (isinf(value)) {
    put(out, value < 0 ? "-inf" : with_sign ? "+inf" : "inf");
    return;
  }
  int exponent;
  double fraction = frexp(fabs(value), &exponent);
  /* Half the distance to the next value below, which at a power of two is the nearer one. */
  double tolerance = ldexp(fraction == 0.5 ? 0.25 : 0.5, exponent - 1 - mantissa_bits);
  int digits = 1; /* but whole: 10 rather than 1e+01 */
  for (double power = 10; power <= fabs(value) && digits < 6; power *= 10) ++digits;
  for (; digits <= 17; ++digits) {
    snprintf(text, sizeof text, with_sign ? "%+.*g" : "%.*g", digits, value);
    double back = strtod(text, NULL);
    if (back == value || fabs(back - value) < tolerance) break;
  }
  for (char *c = text; *c != 0; ++c) {
    if (*c == ',') *c = '.'; /* an application's locale */
  }
  put(out, text);
}

static void put_complex(writer *out, double real, double imaginary, int mantissa_bits) {
  put_float(out, real, mantissa_bits, false);
  put_float(out, imaginary, mantissa_bits, true);
  put(out, "j");
}

static void put_int(writer *out, int64_t value) {
  char text[24];
  snprintf(text, sizeof text, "%" PRId64, value);
  put(out, text);
}

static void put_uint(writer *out, uint64_t value) {
  char text[24];
  snprintf(text, sizeof text, "%" PRIu64, value);
  put(out, text);
}

/* What no op computes on yet: as it lies in memory, the highest byte first. */
static void put_bits(writer *out, const void *element, size_t size) {
  char text[4];
  put(out, "0x");
  for (size_t i = size; i-- > 0;) {
    snprintf(text, sizeof text, "%02x", ((const unsigned char *)element)[i]);
    put(out, text);
  }
}

static void put_element(writer *out, kw_dtype dtype, const char *at) {
  union {
    int8_t i8;
    int16_t i16;
    int32_t i32;
    int64_t i64;
    uint8_t u8;
    uint16_t u16;
    uint32_t u32;
    uint64_t u64;
    float f32[2];
    double f64[2];
  } value;
  memcpy(&value, at, kw_dtype_size(dtype));
  switch (dtype) {
    case KW_BOOL:
      put(out, value.u8 != 0 ? "true" : "false");
      return;
    case KW_U8:
      put_int(out, value.u8);
      return;
    case KW_I8:
      put_int(out, value.i8);
      return;
    case KW_I16:
      put_int(out, value.i16);
      return;
    case KW_I32:
      put_int(out, value.i32);
      return;
    case KW_I64:
      put_int(out, value.i64);
      return;
    case KW_U16:
      put_uint(out, value.u16);
      return;
    case KW_U32:
      put_uint(out, value.u32);
      return;
    case KW_U64:
      put_uint(out, value.u64);
      return;
    case KW_F16:
      put_float(out, decode_small_float(value.u16, 5, 10, true), 10, false);
      return;
    case KW_BF16:
      put_float(out, decode_small_float(value.u16, 8, 7, true), 7, false);
      return;
    case KW_F8E4M3FN:
      put_float(out, decode_small_float(value.u8, 4, 3, false), 3, false);
      return;
    case KW_F8E5M2:
      put_float(out, decode_small_float(value.u8, 5, 2, true), 2, false);
      return;
    case KW_F32:
      put_float(out, (double)value.f32[0], 23, false);
      return;
    case KW_F64:
      put_float(out, value.f64[0], 52, false);
      return;
    case KW_C64:
      put_complex(out, (double)value.f32[0], (double)value.f32[1], 23);
      return;
    case KW_C128:
      put_complex(out, value.f64[0], value.f64[1], 52);
      return;
    default:
      put_bits(out, &value, kw_dtype_size(dtype));
      return;
  }
}

/* ---- Brackets --------------------------------------------------------------------------------------------------- */

/* `at` is the first of the `block` bytes that dimension d and those inside it cover. */
static void put_dimension(writer *out, const kw_tensor_ref *ref, uint32_t d, const char *at, size_t block) {
  if (d == ref->rank) {
    put_element(out, ref->dtype, at);
    return;
  }
  int64_t size = ref->shape[d];
  size_t step = block / (size_t)size;
  bool abbreviate = ref->numel > ABBREVIATE_OVER && size > 2 * EDGE;
  put(out, "[");
  for (int64_t i = 0; i < size; ++i) {
    if (i > 0) put(out, ", ");
    if (abbreviate && i == EDGE) {
      put(out, "...");
      i = size - EDGE - 1;
      continue;
    }
    put_dimension(out, ref, d + 1, at + (size_t)i * step, step);
  }
  put(out, "]");
}

kw_status kw_tensor_format(const kw_tensor *tensor, char *text, size_t size) {
  static const char function[] = "kw_tensor_format";
  kw_status status = kw_tensor_check(function, "tensor", tensor);
  if (status != KW_OK) return status;
  if (text == NULL && size > 0) return kw_fail(KW_ERR_INVALID_ARGUMENT, "%s: argument text is NULL.", function);
  const kw_tensor_ref *ref = &tensor->ref;
  size_t bytes = (size_t)kw_ref_bytes(ref);
  char *packed = malloc(bytes > 0 ? bytes : 1);
  if (packed == NULL) return kw_fail(KW_ERR_OUT_OF_MEMORY, "%s: the host is out of memory.", function);
  status = kw_tensor_read(tensor, packed);
  if (status == KW_OK) {
    writer out = {.text = text, .size = size};
    put(&out, "tensor(");
    if (ref->numel > 0) {
      put_dimension(&out, ref, 0, packed, bytes);
      put(&out, ", ");
      put(&out, kw_dtype_name(ref->dtype));
    } else { /* brackets cannot tell [0, 3] from [0, 5] */
      char shape[256];
      put(&out, "[], ");
      put(&out, kw_ref_describe(ref, shape, sizeof shape));
    }
    put(&out, ", ");
    put(&out, tensor->device->name);
    put(&out, ")");
  }
  free(packed);
  return status;
}
