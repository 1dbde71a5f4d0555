/* SPDX-License-Identifier: Apache-2.0
 *
 * One element of any dtype: its format, reading, rounding, converting. Written apart from the reference's own
 * conversions, so that the two check each other. KW_DTYPE_WIDE is the oracle's form of a floating-point result, hi +
 * lo: about 106 bits.
 */
#ifndef KEYWAY_CONFORMANCE_ELEMENT_H
#define KEYWAY_CONFORMANCE_ELEMENT_H

#include "op_table.h"
#include "reference.h"

#include <string.h>

/* A binary floating-point format: values m * 2^(e - precision + 1), emin <= e <= emax, 2^(p-1) <= m < 2^p, and
 * subnormals with e = emin. */
typedef struct kw_float_format {
  int precision; /* bits, the hidden one included */
  int emin;
  int emax;
  double max; /* largest finite value */
} kw_float_format;

extern const kw_float_format kw_element_formats[KW_DTYPE_COUNT]; /* precision 0: no floating-point dtype */
extern const uint8_t kw_element_sizes[KW_DTYPE_COUNT];

/* Whether it is one of f16, bf16, f32, f64 and both f8. */
static inline bool kw_element_is_float(kw_dtype dtype) {
  return dtype < KW_DTYPE_COUNT && kw_element_formats[dtype].precision > 0;
}

static inline kw_float_format kw_element_format(kw_dtype dtype) {
  return kw_element_formats[dtype];
}

/* Of KW_DTYPE_WIDE, too. */
static inline size_t kw_element_size(kw_dtype dtype) {
  if (dtype == KW_DTYPE_WIDE) return sizeof(kw_wide);
  if (dtype == KW_DTYPE_WIDE_PAIR) return 2 * sizeof(kw_wide);
  return dtype < KW_DTYPE_COUNT ? kw_element_sizes[dtype] : 0;
}

bool kw_element_is_complex(kw_dtype dtype);
bool kw_element_is_integer(kw_dtype dtype); /* bool excluded */
const char *kw_element_name(kw_dtype dtype);
/* "f32" to KW_F32; KW_DTYPE_NONE for an unknown name. */
kw_dtype kw_element_from_name(const char *name, size_t length);
/* Clears the sign of a float; leaves any other element alone. */
void kw_element_set_absolute(kw_dtype dtype, void *element);
/* Whether all integers from low to high are values of the dtype. */
bool kw_element_holds_integers(kw_dtype dtype, int64_t low, int64_t high);
/* What a complex dtype has two of; any other dtype itself. */
kw_dtype kw_element_part(kw_dtype dtype);
/* The dtype an op on floats of this dtype computes in: f32, or f64 for f64. */
kw_dtype kw_element_compute(kw_dtype dtype);

/* 2^exponent, for every exponent that a double has. */
static inline double kw_element_pow2(int exponent) {
  if (exponent < -1022) return 0x1p-1022 / (double)(UINT64_C(1) << (-1022 - exponent));
  uint64_t bits = (uint64_t)(exponent + 1023) << 52;
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

/* Spacing of a format around |x| > 0: that of the binade (2^k, 2^(k+1)] which holds |x|, and never less than the
 * smallest subnormal. */
double kw_element_spacing(kw_float_format format, kw_wide x);

/* x rounded once to the nearest value of a floating dtype, ties to even; overflow gives infinity (NaN in f8e4m3fn). */
double kw_element_round(kw_dtype dtype, kw_wide x);

/* One element to and from double. Loading is exact for bool, floats and integers up to 53 bits; storing rounds once
 * into floats, and truncates and saturates into integers (NaN: 0), "is not zero" into bool. Real dtypes only. */
double kw_element_load(kw_dtype dtype, const void *element);
void kw_element_store(kw_dtype dtype, void *element, double value);
kw_wide kw_element_load_wide(kw_dtype dtype, const void *element); /* exact for i64 too */

/* copy_'s conversion of one element between two real dtypes, or to a complex one: raw bits when the dtypes are equal,
 * integers wrap. */
void kw_element_convert(kw_dtype to, void *dst, kw_dtype from, const void *src);

bool kw_element_is_nan(kw_dtype dtype, const void *element);
bool kw_element_is_subnormal(kw_dtype dtype, const void *element);

#endif /* KEYWAY_CONFORMANCE_ELEMENT_H */
