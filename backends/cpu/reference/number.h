/* SPDX-License-Identifier: Apache-2.0
 *
 * Numbers in memory: reading and writing one element of any dtype, converting, rounding once.
 *
 * Nothing here depends on the compute type. Every dtype's values fit in a double exactly, i64 excepted; integers
 * (bool included) therefore travel as int64_t, everything else as double.
 */
#ifndef KEYWAY_REFERENCE_NUMBER_H
#define KEYWAY_REFERENCE_NUMBER_H

#include "reference.h"

/* Bytes of one element, KW_DTYPE_WIDE included; 0 for an unknown dtype. */
size_t kw_number_size(kw_dtype dtype);

bool kw_number_is_integer(kw_dtype dtype); /* bool included */
bool kw_number_is_float(kw_dtype dtype);   /* f8 included, complex and wide excluded */

/* ATen's promotion of two real dtypes. */
kw_dtype kw_number_promote(kw_dtype a, kw_dtype b);

/* The real part for complex dtypes; integers round to double. */
double kw_number_load(kw_dtype dtype, const void *at);
/* Integer dtypes only. A bool is 1 for any nonzero byte. */
int64_t kw_number_load_int(kw_dtype dtype, const void *at);

/* Rounds once, to nearest even; integers saturate with NaN as 0, bool is "not zero". Complex: imaginary part 0. */
void kw_number_store(kw_dtype dtype, void *at, double value);
/* Integers wrap; bool is "not zero"; floating point rounds once. */
void kw_number_store_int(kw_dtype dtype, void *at, int64_t value);

/* Any dtype to any dtype, as copy_ does: the same dtype moves bits; complex to real takes the real part, complex to
 * bool asks whether either part is not zero. `from` and `to` do not overlap. */
void kw_number_convert(kw_dtype from_dtype, const void *from, kw_dtype to_dtype, void *to);

/* A finite number that is not zero, taken apart: (-1)^negative * significand * 2^exponent, where the top bit of
 * significand is set and `sticky` says that nonzero bits below the last were cut off. */
typedef struct kw_unpacked {
  uint64_t significand;
  int exponent;
  bool negative;
  bool sticky;
} kw_unpacked;

/* The bits of `number` in f16, bf16, f8e4m3fn or f8e5m2, rounded once to nearest even. */
uint32_t kw_number_pack(kw_dtype dtype, kw_unpacked number);
/* True for the dtypes that kw_number_pack serves. */
bool kw_number_is_narrow(kw_dtype dtype);

#endif /* KEYWAY_REFERENCE_NUMBER_H */
