/* SPDX-License-Identifier: Apache-2.0
 *
 * The reference kernels in __float128, 113 bits: the oracle for f64. The only file that needs libquadmath. Its header
 * comes with one compiler only, so its functions are declared here.
 */
#include "number.h"

#include <string.h>

__extension__ typedef __float128 kw_f128;

kw_f128 sqrtq(kw_f128 x);
kw_f128 expq(kw_f128 x);
kw_f128 logq(kw_f128 x);
kw_f128 log1pq(kw_f128 x);
kw_f128 sinq(kw_f128 x);
kw_f128 cosq(kw_f128 x);
kw_f128 tanhq(kw_f128 x);
kw_f128 erfq(kw_f128 x);
kw_f128 erfcq(kw_f128 x);
kw_f128 powq(kw_f128 x, kw_f128 y);
kw_f128 fmodq(kw_f128 x, kw_f128 y);
kw_f128 acosq(kw_f128 x);
kw_f128 acoshq(kw_f128 x);
kw_f128 asinq(kw_f128 x);
kw_f128 asinhq(kw_f128 x);
kw_f128 atanq(kw_f128 x);
kw_f128 atanhq(kw_f128 x);
kw_f128 atan2q(kw_f128 y, kw_f128 x);
kw_f128 sinhq(kw_f128 x);
kw_f128 coshq(kw_f128 x);
kw_f128 tanq(kw_f128 x);
kw_f128 log1pq(kw_f128 x);
kw_f128 expm1q(kw_f128 x);
kw_f128 log2q(kw_f128 x);
kw_f128 log10q(kw_f128 x);
kw_f128 exp2q(kw_f128 x);
kw_f128 ceilq(kw_f128 x);
kw_f128 rintq(kw_f128 x);
kw_f128 floorq(kw_f128 x);
kw_f128 truncq(kw_f128 x);
kw_f128 fabsq(kw_f128 x);
kw_f128 copysignq(kw_f128 magnitude, kw_f128 sign);
kw_f128 frexpq(kw_f128 x, int *exponent);
kw_f128 ldexpq(kw_f128 x, int exponent);

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
    kw_f128 scaled = ldexpq(frexpq(fabsq(value), &exponent), 64); /* in [2^63, 2^64) */
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
#define MATH(name) name##q
#define STORE(dtype, at, value) store_f128(dtype, at, value)
#define TABLE kw_reference_f128

#include "kernels.inc"
