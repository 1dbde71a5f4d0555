/* SPDX-License-Identifier: Apache-2.0
 *
 * Random words and the numbers in [0, 1) that are made of them, the reference's bit by bit.
 */
#include "level.h"

#include <string.h>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

/* Vectors of 64-bit lanes, in each of which the lower half is a word. */
#if defined(__AVX512F__)
#define BLOCKS 8 /* of a vector: one for each lane */
#define LOW(a, b) __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11)
#define HIGH(a, b) __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15)
#define PRODUCT(a, b) (vector) _mm512_mul_epu32((__m512i)(a), (__m512i)(b))
#elif defined(__AVX2__)
#define BLOCKS 4
#define LOW(a, b) __builtin_shufflevector(a, b, 0, 4, 1, 5)
#define HIGH(a, b) __builtin_shufflevector(a, b, 2, 6, 3, 7)
#define PRODUCT(a, b) (vector) _mm256_mul_epu32((__m256i)(a), (__m256i)(b))
#else
#define BLOCKS 2
#define LOW(a, b) __builtin_shufflevector(a, b, 0, 2)
#define HIGH(a, b) __builtin_shufflevector(a, b, 1, 3)
#if defined(__SSE2__)
#define PRODUCT(a, b) (vector) _mm_mul_epu32((__m128i)(a), (__m128i)(b))
#else
#define PRODUCT(a, b) (((a)&UINT32_MAX) * ((b)&UINT32_MAX))
#endif
#endif
typedef uint64_t vector __attribute__((vector_size(8 * BLOCKS)));

#define ROUNDS 10
#define VECTORS 2 /* that are computed on side by side */

/* Philox 4x32-10, as philox.h says. What products leave in the upper halves is read by nobody. */
static void philox(uint32_t *words, uint64_t seed, uint64_t first, uint32_t part, int64_t blocks) {
  const vector none = {0}, multiplier_0 = none + 0xD2511F53u, multiplier_1 = none + 0xCD9E8D57u;
  vector number = none + first;
  for (int k = 0; k < BLOCKS; k++) number[k] += (uint64_t)k;
  for (int64_t done = 0; done < blocks; done += VECTORS * BLOCKS) {
    vector x0[VECTORS], x1[VECTORS], x2[VECTORS], x3[VECTORS], block[2 * VECTORS];
    vector key_0 = none + (uint32_t)seed, key_1 = none + (seed >> 32);
    for (int v = 0; v < VECTORS; v++, number += BLOCKS) {
      x0[v] = number;
      x1[v] = number >> 32;
      x2[v] = none + part;
      x3[v] = none;
    }
    for (int round = 0; round < ROUNDS; round++, key_0 += 0x9E3779B9u, key_1 += 0xBB67AE85u) {
      for (int v = 0; v < VECTORS; v++) {
        const vector a = PRODUCT(multiplier_0, x0[v]), b = PRODUCT(multiplier_1, x2[v]);
        x0[v] = (b >> 32) ^ x1[v] ^ key_0;
        x1[v] = b;
        x2[v] = (a >> 32) ^ x3[v] ^ key_1;
        x3[v] = a;
      }
    }
    for (int v = 0; v < VECTORS; v++) {
      const vector front = (x0[v] & UINT32_MAX) | x1[v] << 32, back = (x2[v] & UINT32_MAX) | x3[v] << 32;
      block[2 * v] = LOW(front, back);
      block[2 * v + 1] = HIGH(front, back);
    }
    const int64_t left = blocks - done < VECTORS * BLOCKS ? blocks - done : VECTORS * BLOCKS;
    memcpy(words + 4 * done, block, (size_t)left * 4 * sizeof *words);
  }
}

static void uniform_f32(float *lanes, const uint32_t *words, int cut, int64_t n) {
  const float unit = 1 / (float)(INT64_C(1) << (32 - cut));
  KW_INDEPENDENT
  for (int64_t i = 0; i < n; i++) lanes[i] = (float)(int32_t)(words[i] >> cut) * unit;
}

static void uniform_f64(double *lanes, const uint32_t *high, const uint32_t *low, int64_t n) {
  KW_INDEPENDENT
  for (int64_t i = 0; i < n; i++) {
    lanes[i] = (double)(int64_t)(((uint64_t)high[i] << 32 | low[i]) >> 11) * 0x1p-53;
  }
}

void KW_ISA_NAME(kw_add_random)(kw_isa *isa) {
  isa->philox = philox;
  isa->uniform_f32 = uniform_f32;
  isa->uniform_f64 = uniform_f64;
}
