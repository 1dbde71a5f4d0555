/* SPDX-License-Identifier: Apache-2.0
 *
 * Numbers of 16 bits, f16 and bf16, made floats and made of them with one rounding.
 */
#ifndef KEYWAY_CPU_FAST_HALVES_H
#define KEYWAY_CPU_FAST_HALVES_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#if defined(__F16C__)
#include <immintrin.h>
#endif

typedef uint16_t half, f16, bf16;

static inline float float_of_bits(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static inline uint32_t bits_of_float(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

/* ---- Narrow floating point --------------------------------------------------------------------------------------- */

/* Exponent and fraction of a narrow number lie in `magnitude` like a float's after the shift, but for the exponent's
 * bias, which a product mends, subnormals included. A NaN is made quiet, as a processor's own conversion does. */
static inline float widen(uint32_t magnitude, uint32_t sign, int fraction_bits, int bias, bool has_infinity) {
  const uint32_t shifted = magnitude << (23 - fraction_bits);
  const uint32_t limit = (uint32_t)(2 * bias + 1) << 23; /* the exponent of infinity and NaN */
  const uint32_t scaled = bits_of_float(float_of_bits(shifted) * float_of_bits((uint32_t)(127 + 127 - bias) << 23));
  const uint32_t beyond = shifted | 0x7f800000u | (uint32_t)(shifted > limit) << 22;
  return float_of_bits(sign | (has_infinity && shifted >= limit ? beyond : scaled));
}

/* One of two words, without a branch: compilers make vectors of that. */
static inline uint32_t choose(bool first, uint32_t a, uint32_t b) {
  const uint32_t mask = 0u - (uint32_t)first;
  return (a & mask) | (b & ~mask);
}

/* To nearest even. A result below the smallest normal number is rounded by an addition: a sum with `step` has spacing 1
 * subnormal. */
static inline uint32_t narrow(float value, int fraction_bits, int bias, uint32_t overflow, uint32_t nan) {
  const int cut = 23 - fraction_bits;
  const uint32_t bits = bits_of_float(value), magnitude = bits & 0x7fffffffu;
  const uint32_t odd = magnitude >> cut & 1;
  const uint32_t normal = (magnitude - ((uint32_t)(127 - bias) << 23) + (1u << (cut - 1)) - 1 + odd) >> cut;
  const uint32_t step = (uint32_t)(127 - bias + 1 + cut) << 23; /* 2^(1 - bias - fraction_bits + 23) */
  const uint32_t subnormal = bits_of_float(float_of_bits(magnitude) + float_of_bits(step)) - step;
  uint32_t result = choose(magnitude < (uint32_t)(128 - bias) << 23, subnormal, normal);
  result = choose(result > overflow, overflow, result);
  return choose(magnitude > 0x7f800000u, nan, result);
}

#ifdef __F16C__
/* By the processor, one by one as eight at a time: a NaN has the same bits wherever it stands. */
static inline float read_f16(uint16_t bits) {
  return _cvtsh_ss(bits);
}

static inline uint16_t write_f16(float value) {
  return _cvtss_sh(value, _MM_FROUND_TO_NEAREST_INT);
}
#else
static inline float read_f16(uint16_t bits) {
  return widen(bits & 0x7fffu, (uint32_t)(bits & 0x8000u) << 16, 10, 15, true);
}

/* A NaN has no sign: that of a sum of two is what the compiler has made of it, here one and there the other. */
static inline uint16_t write_f16(float value) {
  const uint32_t sign = bits_of_float(value) >> 16 & 0x8000u, bits = narrow(value, 10, 15, 0x7c00, 0x7e00);
  return (uint16_t)choose(bits > 0x7c00u, bits, sign | bits);
}
#endif

static inline float read_bf16(uint16_t bits) {
  return float_of_bits((uint32_t)bits << 16);
}

/* A float's bits so that the upper half is the nearest bf16. A NaN stays one if its lower half is 0, as in what comes
 * of bf16. */
static inline uint32_t round_to_bf16(uint32_t bits) {
  return bits + 0x7fffu + (bits >> 16 & 1);
}

static inline uint16_t write_bf16(float value) {
  const uint32_t bits = bits_of_float(value);
  return (uint16_t)(value != value ? bits >> 16 | 0x40u : round_to_bf16(bits) >> 16); /* a NaN becomes quiet */
}

/* Several at a time where elements are dense. Of f16 the processor's own conversions. */
#if defined(__AVX512F__)
#define F16_AT_ONCE 16
typedef __m256i f16s;

static inline void widen_f16s(float *to, f16s from) {
  _mm512_storeu_ps(to, _mm512_cvtph_ps(from));
}

static inline f16s narrow_to_f16s(const float *from) {
  return _mm512_cvtps_ph(_mm512_loadu_ps(from), _MM_FROUND_TO_NEAREST_INT);
}
#elif defined(__F16C__)
#define F16_AT_ONCE 8
typedef __m128i f16s;

static inline void widen_f16s(float *to, f16s from) {
  _mm256_storeu_ps(to, _mm256_cvtph_ps(from));
}

static inline f16s narrow_to_f16s(const float *from) {
  return _mm256_cvtps_ph(_mm256_loadu_ps(from), _MM_FROUND_TO_NEAREST_INT);
}
#endif

/* Of bf16 those in the lower halves of a vector's words, behind them those in the upper ones: so no element has to
 * change its place. Narrowing is round_to_bf16: what is cut off counts as more than one half if it is one half and the
 * last bit that stays is 1. */
#if defined(__AVX512BW__)
#define BF16_AT_ONCE 32
typedef __m512i bf16s;

enum { BY_BIT_A_B_ELSE_C = 0xca, A_OR_B_AND_C = 0xf8 }; /* what ternary logic makes of three words */

static inline __m512i upper_halves(void) {
  return _mm512_set1_epi32((int)0xffff0000u);
}

static inline void widen_bf16s(float *to, bf16s from) {
  _mm512_storeu_si512(to, _mm512_slli_epi32(from, 16));
  _mm512_storeu_si512(to + 16, _mm512_and_si512(from, upper_halves()));
}

/* Cut, where nothing is lost. */
static inline bf16s cut_to_bf16s(const float *from) {
  const __m512i lower = _mm512_loadu_si512(from), upper = _mm512_loadu_si512(from + 16);
  return _mm512_ternarylogic_epi32(upper_halves(), upper, _mm512_srli_epi32(lower, 16), BY_BIT_A_B_ELSE_C);
}

static inline bf16s narrow_to_bf16s(const float *from) {
  const __m512i lower = _mm512_loadu_si512(from), upper = _mm512_loadu_si512(from + 16);
  const __m512i kept = cut_to_bf16s(from), one = _mm512_set1_epi16(1), half = _mm512_set1_epi16(INT16_MIN);
  __m512i lost = _mm512_ternarylogic_epi32(upper_halves(), _mm512_slli_epi32(upper, 16), lower, BY_BIT_A_B_ELSE_C);
  lost = _mm512_ternarylogic_epi32(lost, kept, one, A_OR_B_AND_C);
  return _mm512_mask_add_epi16(kept, _mm512_cmpgt_epu16_mask(lost, half), kept, one);
}

/* The elements one after the other. */
static inline void store_bf16s(char *to, bf16s from) {
  bf16 order[BF16_AT_ONCE];
  for (int k = 0; k < BF16_AT_ONCE; k++) order[k] = (bf16)(k / 16 + 2 * (k % 16));
  _mm512_storeu_si512(to, _mm512_permutexvar_epi16(_mm512_loadu_si512(order), from));
}

static inline bool any_nan(const float *from) {
  return _mm512_cmp_ps_mask(_mm512_loadu_ps(from), _mm512_loadu_ps(from + 16), _CMP_UNORD_Q) != 0;
}
#elif defined(__AVX2__)
#define BF16_AT_ONCE 16
typedef __m256i bf16s;

enum { UPPER_HALVES = 0xaa }; /* of each word of a blend */

static inline __m256i load_floats(const float *from) {
  return _mm256_loadu_si256((const __m256i *)(const void *)from);
}

static inline void store_words(void *to, __m256i from) {
  _mm256_storeu_si256(to, from);
}

static inline void widen_bf16s(float *to, bf16s from) {
  store_words(to, _mm256_slli_epi32(from, 16));
  store_words(to + 8, _mm256_blend_epi16(_mm256_setzero_si256(), from, UPPER_HALVES));
}

/* Cut, where nothing is lost. */
static inline bf16s cut_to_bf16s(const float *from) {
  return _mm256_blend_epi16(_mm256_srli_epi32(load_floats(from), 16), load_floats(from + 8), UPPER_HALVES);
}

static inline bf16s narrow_to_bf16s(const float *from) {
  const __m256i kept = cut_to_bf16s(from), half = _mm256_set1_epi16(INT16_MIN);
  __m256i lost = _mm256_blend_epi16(load_floats(from), _mm256_slli_epi32(load_floats(from + 8), 16), UPPER_HALVES);
  lost = _mm256_or_si256(lost, _mm256_and_si256(kept, _mm256_set1_epi16(1)));
  /* Less one half, so that signs tell; a comparison that holds is -1. */
  return _mm256_sub_epi16(kept, _mm256_cmpgt_epi16(_mm256_xor_si256(lost, half), _mm256_setzero_si256()));
}

/* The elements one after the other. */
static inline void store_bf16s(char *to, bf16s from) {
  const __m256i order =
      _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 1, 4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15));
  store_words(to, _mm256_permute4x64_epi64(_mm256_shuffle_epi8(from, order), _MM_SHUFFLE(3, 1, 2, 0)));
}

static inline bool any_nan(const float *from) {
  return _mm256_movemask_ps(_mm256_cmp_ps(_mm256_loadu_ps(from), _mm256_loadu_ps(from + 8), _CMP_UNORD_Q)) != 0;
}
#endif

#endif /* KEYWAY_CPU_FAST_HALVES_H */
