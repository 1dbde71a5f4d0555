/* SPDX-License-Identifier: Apache-2.0
 *
 * The reference kernels in 113 bits: the oracle for f64. long double has them on aarch64; elsewhere __float128 does,
 * for which glibc has the functions since 2.26. It declares them to some compilers only, so they are declared here.
 */
#include "number.h"

#include <float.h>
#include <math.h>
#include <string.h>

#if LDBL_MANT_DIG == 113
typedef long double kw_f128;
#define F128(name) name##l
#else
__extension__ typedef __float128 kw_f128;
#define F128(name) name##f128
kw_f128 F128(sqrt)(kw_f128 x);
kw_f128 F128(exp)(kw_f128 x);
kw_f128 F128(log)(kw_f128 x);
kw_f128 F128(log1p)(kw_f128 x);
kw_f128 F128(sin)(kw_f128 x);
kw_f128 F128(cos)(kw_f128 x);
kw_f128 F128(tanh)(kw_f128 x);
kw_f128 F128(erf)(kw_f128 x);
kw_f128 F128(erfc)(kw_f128 x);
kw_f128 F128(pow)(kw_f128 x, kw_f128 y);
kw_f128 F128(fmod)(kw_f128 x, kw_f128 y);
kw_f128 F128(acos)(kw_f128 x);
kw_f128 F128(acosh)(kw_f128 x);
kw_f128 F128(asin)(kw_f128 x);
kw_f128 F128(asinh)(kw_f128 x);
kw_f128 F128(atan)(kw_f128 x);
kw_f128 F128(atanh)(kw_f128 x);
kw_f128 F128(atan2)(kw_f128 y, kw_f128 x);
kw_f128 F128(sinh)(kw_f128 x);
kw_f128 F128(cosh)(kw_f128 x);
kw_f128 F128(tan)(kw_f128 x);
kw_f128 F128(expm1)(kw_f128 x);
kw_f128 F128(log2)(kw_f128 x);
kw_f128 F128(log10)(kw_f128 x);
kw_f128 F128(exp2)(kw_f128 x);
kw_f128 F128(ceil)(kw_f128 x);
kw_f128 F128(rint)(kw_f128 x);
kw_f128 F128(floor)(kw_f128 x);
kw_f128 F128(trunc)(kw_f128 x);
kw_f128 F128(fabs)(kw_f128 x);
kw_f128 F128(copysign)(kw_f128 magnitude, kw_f128 sign);
kw_f128 F128(frexp)(kw_f128 x, int *exponent);
kw_f128 F128(ldexp)(kw_f128 x, int exponent);
#endif

/* A finite value past the range of double is the largest double and a distance of at least half its spacing, so that
 * what overflows stays apart from what is infinite. */
static kw_wide widen(kw_f128 value) {
  const double max = 0x1.fffffffffffffp1023, sign = value < 0 ? -1 : 1;
  kw_wide wide = {(double)value, 0};
  if (value - value != 0) return wide;
  if (wide.hi - wide.hi != 0) wide.hi = sign * max;
  wide.lo = (double)(value - (kw_f128)wide.hi);
  if (wide.lo - wide.lo != 0) wide.lo = sign * max;
  return wide;
}

/* Writes a kw_f128, rounded once. */
static void store_f128(kw_dtype dtype, void *at, kw_f128 value) {
  double high = (double)value;
  bool finite = value - value == 0;
  if (dtype == KW_DTYPE_WIDE) {
    kw_wide wide = widen(value);
    memcpy(at, &wide, sizeof wide);
  } else if (dtype == KW_BOOL) {
    kw_number_store_int(KW_BOOL, at, value != 0); /* a tiny value is 0 as a double, but not zero */
  } else if (dtype == KW_F32) {
    float single = (float)value;
    memcpy(at, &single, sizeof single);
  } else if (kw_number_is_narrow(dtype) && finite && high != 0) {
    int exponent;
    kw_f128 scaled = F128(ldexp)(F128(frexp)(F128(fabs)(value), &exponent), 64); /* in [2^63, 2^64) */
    uint64_t significand = (uint64_t)scaled;
    kw_unpacked number = {significand, exponent - 64, value < 0, scaled != (kw_f128)significand};
    uint32_t bits = kw_number_pack(dtype, number);
    uint16_t pair = (uint16_t)bits;
    uint8_t byte = (uint8_t)bits;
    if (kw_number_size(dtype) == 1) {
      memcpy(at, &byte, sizeof byte);
    } else {
      memcpy(at, &pair, sizeof pair);
    }
  } else {
    kw_number_store(dtype, at, high);
  }
}

#define C kw_f128
#define MATH(name) F128(name)
#define STORE(dtype, at, value) store_f128(dtype, at, value)
#define TABLE kw_reference_f128

#include "kernels.inc"
