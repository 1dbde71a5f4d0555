/* SPDX-License-Identifier: Apache-2.0
 *
 * Scalars as elements and as operands: the one rounding, wrapping or saturation that a dtype asks for.
 */
#include "lower/scalar.h"

#include "lower/dialect.h"
#include "program/dtype.h"

#include "kernels/narrow.kw"

#include <math.h>
#include <string.h>

static int64_t to_integer(double x, int64_t low, int64_t high) {
  if (isnan(x)) return 0;
  if (x <= (double)low) return low;
  if (x >= (double)high) return high;
  return (int64_t)x;
}

/* The integer that `value` is in an integral dtype, wrapped or saturated to its range. */
static int64_t as_integer(const kw_value *value, kw_dtype dtype) {
  int64_t i = value->kind == KW_SCALAR_BOOL ? value->u.b : value->u.i;
  bool real = value->kind == KW_SCALAR_F64;
  switch (dtype) {
    case KW_BOOL:
      return real ? value->u.f != 0 : i != 0;
    case KW_U8:
      return real ? to_integer(value->u.f, 0, UINT8_MAX) : (uint8_t)i;
    case KW_I8:
      return real ? to_integer(value->u.f, INT8_MIN, INT8_MAX) : (int8_t)i;
    case KW_I16:
      return real ? to_integer(value->u.f, INT16_MIN, INT16_MAX) : (int16_t)i;
    case KW_I32:
      return real ? to_integer(value->u.f, INT32_MIN, INT32_MAX) : (int32_t)i;
    default:
      return real ? to_integer(value->u.f, INT64_MIN, INT64_MAX) : i;
  }
}

kw_status kw_gpu_scalar_store(const kw_value *value, kw_dtype dtype, void *out_bits) {
  bool complex_dtype = dtype == KW_C64 || dtype == KW_C128;
  bool integer_value = value->kind == KW_SCALAR_I64 || value->kind == KW_SCALAR_BOOL;
  if (value->tag != KW_TAG_SCALAR) return KW_ERR_NOT_IMPLEMENTED;
  if (value->kind == KW_SCALAR_C128 && !complex_dtype) return KW_ERR_NOT_IMPLEMENTED;
  int64_t i = value->kind == KW_SCALAR_BOOL ? value->u.b : value->u.i;
  double real = integer_value ? (double)i : value->kind == KW_SCALAR_C128 ? value->u.c[0] : value->u.f;
  double imaginary = value->kind == KW_SCALAR_C128 ? value->u.c[1] : 0;
  switch (dtype) {
    case KW_F16:
    case KW_BF16:
    case KW_F8E4M3FN:
    case KW_F8E5M2: {
      uint64_t bits;
      memcpy(&bits, &real, sizeof bits);
      uint32_t narrow = integer_value ? kw_narrow_from_i64(dtype, i) : kw_narrow_from_f64_bits(dtype, bits);
      uint8_t bytes[2] = {(uint8_t)narrow, (uint8_t)(narrow >> 8)};
      memcpy(out_bits, bytes, kw_gpu_dtype_size(dtype));
      return KW_OK;
    }
    case KW_F32:
    case KW_C64: {
      float parts[2] = {integer_value ? (float)i : (float)real, (float)imaginary};
      memcpy(out_bits, parts, kw_gpu_dtype_size(dtype));
      return KW_OK;
    }
    case KW_F64:
    case KW_C128: {
      double parts[2] = {real, imaginary};
      memcpy(out_bits, parts, kw_gpu_dtype_size(dtype));
      return KW_OK;
    }
    default: { /* little endian, as all devices of the pack are: the low bytes come first */
      int64_t integer = as_integer(value, dtype);
      memcpy(out_bits, &integer, kw_gpu_dtype_size(dtype));
      return KW_OK;
    }
  }
}

kw_status kw_gpu_scalar_operand(const kw_value *value, kw_dtype dtype, void *out_bits, uint32_t *out_size) {
  kw_dtype compute = kw_gpu_compute_dtype(dtype);
  *out_size = kw_gpu_dtype_size(compute);
  if (compute == KW_I32 && value->tag == KW_TAG_SCALAR && value->kind != KW_SCALAR_C128) {
    int32_t integer = (int32_t)as_integer(value, dtype);
    memcpy(out_bits, &integer, sizeof integer);
    return KW_OK;
  }
  return kw_gpu_scalar_store(value, compute, out_bits);
}
