/* SPDX-License-Identifier: Apache-2.0
 *
 * Folds: many lanes made one total, along a row, or by columns of several rows at once.
 *
 * No lane passes through more than some dozen additions before a total, which is wider than the lanes, takes the sum:
 * that keeps sums within growth(n) of the op table for every n (see reduce.inc). The order of additions follows from n
 * alone.
 */
#include "level.h"

#include <math.h>
#include <string.h>
#if defined(__SSE2__)
#include <immintrin.h>
#endif

#define BLOCK 4096 /* lanes that are added up before the total takes the sum */

#define PICK_BLOCK 512 /* lanes whose best is known before its place is looked for: few enough for the first cache */

/* A total's number. */
#define TOTAL_f32(t) (t)->f64
#define TOTAL_f64(t) (t)->widest
typedef double wide_f32;
typedef long double wide_f64;

/* Products. Their roundings add up even where those of a sum would not, since equal lanes have equal ones: so they are
 * made in the type of the totals. */
typedef double widened __attribute__((vector_size(KW_VECTOR_BYTES)));
static inline widened widen(const float *x) {
#if defined(__AVX512F__)
  return _mm512_cvtps_pd(_mm256_loadu_ps(x));
#elif defined(__AVX2__)
  return _mm256_cvtps_pd(_mm_loadu_ps(x));
#else
  return (widened){x[0], x[1]};
#endif
}

static double product_along_f32(const float *x, int64_t n) {
  enum { PARTS = 4, WIDTH = KW_VECTOR_BYTES / sizeof(double) };
  widened part[PARTS];
  int64_t i = 0;
  KW_UNROLL
  for (int k = 0; k < PARTS; k++) part[k] = (widened){0} + 1;
  for (; i + PARTS * WIDTH <= n; i += PARTS * WIDTH) {
    KW_UNROLL
    for (int k = 0; k < PARTS; k++) part[k] *= widen(x + i + k * WIDTH);
  }
  double product = 1, lane[WIDTH];
  for (; i < n; i++) product *= x[i];
  part[0] = (part[0] * part[1]) * (part[2] * part[3]);
  memcpy(lane, &part[0], sizeof lane);
  for (int k = 0; k < WIDTH; k++) product *= lane[k];
  return product;
}

#if defined(__FMA__) || defined(__aarch64__)
/* With what each rounding has lost (Ogita, Rump and Oishi, Accurate sum and dot product, for TwoProductFMA). */
static long double product_along_f64(const double *x, int64_t n) {
  enum { PARTS = 4 * KW_VECTOR_BYTES / sizeof(double) };
  double part[PARTS], lost[PARTS];
  int64_t i = 0;
  for (int k = 0; k < PARTS; k++) {
    part[k] = 1;
    lost[k] = 0;
  }
  for (; i + PARTS <= n; i += PARTS) {
    for (int k = 0; k < PARTS; k++) {
      const double rounded = part[k] * x[i + k];
      lost[k] = __builtin_fma(lost[k], x[i + k], __builtin_fma(part[k], x[i + k], -rounded));
      part[k] = rounded;
    }
  }
  long double product = 1;
  for (int k = 0; k < PARTS; k++) { /* a zero keeps its sign, and what is not finite has lost nothing */
    product *= part[k] != 0 && part[k] - part[k] == 0 ? (long double)part[k] + lost[k] : part[k];
  }
  for (; i < n; i++) product *= x[i];
  return product;
}
#else
static long double product_along_f64(const double *x, int64_t n) {
  long double part[4] = {1, 1, 1, 1};
  int64_t i = 0;
  for (; i + 4 <= n; i += 4) {
    KW_UNROLL
    for (int k = 0; k < 4; k++) part[k] *= x[i + k];
  }
  for (; i < n; i++) part[0] *= x[i];
  return (part[0] * part[1]) * (part[2] * part[3]);
}
#endif

/* The larger and the smaller of every two lanes. NaN stays in `a`, and comes from `b`: the processor's own give the
 * second operand where either is NaN. */
#if defined(__AVX512F__)
#define EXTREME(name, lane, v, suffix)                                                           \
  static inline v join_##name##_##lane(v a, v b) {                                               \
    return _mm512_mask_##name##_##suffix(b, _mm512_cmp_##suffix##_mask(b, b, _CMP_ORD_Q), b, a); \
  }
#define EXTREMES(name) EXTREME(name, f32, __m512, ps) EXTREME(name, f64, __m512d, pd)
#elif defined(__AVX2__)
#define EXTREME(name, lane, v, suffix)                                                                  \
  static inline v join_##name##_##lane(v a, v b) {                                                      \
    return _mm256_or_##suffix(_mm256_##name##_##suffix(b, a), _mm256_cmp_##suffix(b, b, _CMP_UNORD_Q)); \
  }
#define EXTREMES(name) EXTREME(name, f32, __m256, ps) EXTREME(name, f64, __m256d, pd)
#elif defined(__SSE2__)
#define EXTREME(name, lane, v, suffix)                                                \
  static inline v join_##name##_##lane(v a, v b) {                                    \
    return _mm_or_##suffix(_mm_##name##_##suffix(b, a), _mm_cmpunord_##suffix(b, b)); \
  }
#define EXTREMES(name) EXTREME(name, f32, __m128, ps) EXTREME(name, f64, __m128d, pd)
#endif
#ifdef EXTREMES
EXTREMES(max)
EXTREMES(min)
#endif

#define EACH "fold_float.inc"
#include "each_float.inc"
#define EACH "fold_int.inc"
#include "each_int.inc"

/* ---- Sums of f16 and bf16, without lanes in memory --------------------------------------------------------------- */

/* Sums of lanes, in the type of totals and lane by lane: no block waits until its lanes are one. */
typedef struct wide_sums {
  widened part[2];
} wide_sums;

static inline void add_vector(wide_sums *sums, vector_f32 v) {
  enum { WIDTH = KW_VECTOR_BYTES / sizeof(double) };
  float lane[2 * WIDTH];
  memcpy(lane, &v, sizeof lane);
  sums->part[0] += widen(lane);
  sums->part[1] += widen(lane + WIDTH);
}

static inline double sum_of(const wide_sums *sums) {
  enum { WIDTH = KW_VECTOR_BYTES / sizeof(double) };
  double lane[WIDTH];
  const widened both = sums->part[0] + sums->part[1];
  memcpy(lane, &both, sizeof lane);
  KW_UNROLL
  for (int half = WIDTH / 2; half > 0; half /= 2) {
    KW_UNROLL
    for (int k = 0; k < half; k++) lane[k] += lane[k + half];
  }
  return lane[0];
}

typedef uint32_t words __attribute__((vector_size(KW_VECTOR_BYTES)));
typedef struct halves {
  vector_f32 part[2];
} halves;

/* A vector of bf16: the upper half of each word is one, the lower half another. */
static inline halves widen_bf16(const char *at) {
  words w;
  memcpy(&w, at, sizeof w);
  return (halves){{(vector_f32)(w << 16), (vector_f32)(w & 0xffff0000u)}};
}

/* A vector of f16, where the processor widens them. */
#if defined(__AVX512F__)
#define HAVE_F16
static inline halves widen_f16(const char *at) {
  return (halves){{_mm512_cvtph_ps(_mm256_loadu_si256((const void *)at)),
                   _mm512_cvtph_ps(_mm256_loadu_si256((const void *)(at + 32)))}};
}
#elif defined(__F16C__)
#define HAVE_F16
static inline halves widen_f16(const char *at) {
  return (halves){
      {_mm256_cvtph_ps(_mm_loadu_si128((const void *)at)), _mm256_cvtph_ps(_mm_loadu_si128((const void *)(at + 16)))}};
}
#endif

#define SUM_HALVES(name)                                                         \
  static int64_t sum_##name(kw_total *total, const char *from, int64_t n) {      \
    enum { PARTS = 4, STEP = PARTS * KW_VECTOR_BYTES / 4 };                      \
    const int64_t taken = n / STEP * STEP;                                       \
    wide_sums sums = {{{0}, {0}}};                                               \
    for (int64_t begin = 0; begin < taken; begin += BLOCK) {                     \
      const int64_t end = taken - begin < BLOCK ? taken : begin + BLOCK;         \
      vector_f32 part[PARTS] = {{0}, {0}, {0}, {0}};                             \
      for (int64_t i = begin; i < end; i += STEP) {                              \
        KW_UNROLL                                                                \
        for (int k = 0; k < PARTS; k += 2) {                                     \
          const halves h = widen_##name(from + 2 * i + k / 2 * KW_VECTOR_BYTES); \
          part[k] += h.part[0];                                                  \
          part[k + 1] += h.part[1];                                              \
        }                                                                        \
      }                                                                          \
      add_vector(&sums, (part[0] + part[1]) + (part[2] + part[3]));              \
    }                                                                            \
    total->f64 += sum_of(&sums);                                                 \
    return taken;                                                                \
  }
SUM_HALVES(bf16)
#ifdef HAVE_F16
SUM_HALVES(f16)
#endif

void KW_ISA_NAME(kw_add_folds)(kw_isa *isa) {
  add_folds_f32(isa);
  add_folds_f64(isa);
  add_folds_i32(isa);
  add_folds_i64(isa);
  isa->sum_halves[KW_BF16] = sum_bf16;
#ifdef HAVE_F16
  isa->sum_halves[KW_F16] = sum_f16;
#endif
}
