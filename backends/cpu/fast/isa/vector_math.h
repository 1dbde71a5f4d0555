/* SPDX-License-Identifier: Apache-2.0
 *
 * The math library over lanes: SLEEF, in vectors of this instruction set; without it the C library, one by one. A
 * lane's result does not depend on its place: what is left at the end goes through the same vector function. The
 * functions of f32 that are called most, exp, tanh, logarithms and those of angles, are our own, which compilers fit
 * into loops: within 2.7 ulp, for which the ops' bounds leave room, in a quarter to nine tenths of SLEEF's time.
 */
#ifndef KEYWAY_CPU_FAST_VECTOR_MATH_H
#define KEYWAY_CPU_FAST_VECTOR_MATH_H

#include "level.h"

#include <math.h>
#include <string.h>

#ifdef KEYWAY_HAVE_SLEEF
#include <sleef.h>

#if defined(__AVX512F__)
typedef __m512 kw_vector_f32;
typedef __m512d kw_vector_f64;
#define KW_SLEEF_F32(name, ulp) Sleef_##name##f16_##ulp##avx512f
#define KW_SLEEF_F64(name, ulp) Sleef_##name##d8_##ulp##avx512f
#elif defined(__AVX2__)
typedef __m256 kw_vector_f32;
typedef __m256d kw_vector_f64;
#define KW_SLEEF_F32(name, ulp) Sleef_##name##f8_##ulp##avx2
#define KW_SLEEF_F64(name, ulp) Sleef_##name##d4_##ulp##avx2
#elif defined(__SSE2__)
typedef __m128 kw_vector_f32;
typedef __m128d kw_vector_f64;
#define KW_SLEEF_F32(name, ulp) Sleef_##name##f4_##ulp##sse2
#define KW_SLEEF_F64(name, ulp) Sleef_##name##d2_##ulp##sse2
#elif defined(__aarch64__)
typedef float32x4_t kw_vector_f32;
typedef float64x2_t kw_vector_f64;
#define KW_SLEEF_F32(name, ulp) Sleef_##name##f4_##ulp##advsimd
#define KW_SLEEF_F64(name, ulp) Sleef_##name##d2_##ulp##advsimd
#endif

/* Whole vectors, and then what is left, `size` bytes, in front of zeros. */
#define KW_VECTOR_1(out_name, type, vector, function)                \
  static inline void out_name(type *out, const type *x, int64_t n) { \
    enum { WIDTH = sizeof(vector) / sizeof(type) };                  \
    vector a;                                                        \
    int64_t i = 0;                                                   \
    for (; i + WIDTH <= n; i += WIDTH) {                             \
      memcpy(&a, x + i, sizeof a);                                   \
      a = function(a);                                               \
      memcpy(out + i, &a, sizeof a);                                 \
    }                                                                \
    const size_t size = (size_t)(n - i) * sizeof *x;                 \
    if (size == 0) return;                                           \
    memset(&a, 0, sizeof a);                                         \
    memcpy(&a, x + i, size);                                         \
    a = function(a);                                                 \
    memcpy(out + i, &a, size);                                       \
  }
#define KW_VECTOR_2(out_name, type, vector, function)                               \
  static inline void out_name(type *out, const type *x, const type *y, int64_t n) { \
    enum { WIDTH = sizeof(vector) / sizeof(type) };                                 \
    vector a, b;                                                                    \
    int64_t i = 0;                                                                  \
    for (; i + WIDTH <= n; i += WIDTH) {                                            \
      memcpy(&a, x + i, sizeof a);                                                  \
      memcpy(&b, y + i, sizeof b);                                                  \
      a = function(a, b);                                                           \
      memcpy(out + i, &a, sizeof a);                                                \
    }                                                                               \
    const size_t size = (size_t)(n - i) * sizeof *x;                                \
    if (size == 0) return;                                                          \
    memset(&a, 0, sizeof a);                                                        \
    memset(&b, 0, sizeof b);                                                        \
    memcpy(&a, x + i, size);                                                        \
    memcpy(&b, y + i, size);                                                        \
    a = function(a, b);                                                             \
    memcpy(out + i, &a, size);                                                      \
  }
#define KW_MATH_1_F64(name, ulp) KW_VECTOR_1(name##_f64, double, kw_vector_f64, KW_SLEEF_F64(name, ulp))
#define KW_MATH_1_F32(out_name, name, ulp) KW_VECTOR_1(out_name, float, kw_vector_f32, KW_SLEEF_F32(name, ulp))
#define KW_MATH_2(name, ulp)                                             \
  KW_VECTOR_2(name##_f32, float, kw_vector_f32, KW_SLEEF_F32(name, ulp)) \
  KW_VECTOR_2(name##_f64, double, kw_vector_f64, KW_SLEEF_F64(name, ulp))
#else
#define KW_SCALARS_1(out_name, type, function)                       \
  static inline void out_name(type *out, const type *x, int64_t n) { \
    for (int64_t i = 0; i < n; i++) out[i] = function(x[i]);         \
  }
#define KW_SCALARS_2(out_name, type, function)                                      \
  static inline void out_name(type *out, const type *x, const type *y, int64_t n) { \
    for (int64_t i = 0; i < n; i++) out[i] = function(x[i], y[i]);                  \
  }
#define KW_MATH_1_F64(name, ulp) KW_SCALARS_1(name##_f64, double, name)
#define KW_MATH_1_F32(out_name, name, ulp) KW_SCALARS_1(out_name, float, name##f)
#define KW_MATH_2(name, ulp)               \
  KW_SCALARS_2(name##_f32, float, name##f) \
  KW_SCALARS_2(name##_f64, double, name)
#endif
#define KW_MATH_1(name, ulp)           \
  KW_MATH_1_F32(name##_f32, name, ulp) \
  KW_MATH_1_F64(name, ulp)

KW_MATH_1_F64(exp, u10)
KW_MATH_1(exp2, u10)
KW_MATH_1_F64(expm1, u10)
KW_MATH_1_F64(log, u10)
KW_MATH_1_F64(log2, u10)
KW_MATH_1_F64(log10, u10)
KW_MATH_1_F64(log1p, u10)
KW_MATH_1_F64(sin, u10)
KW_MATH_1_F64(cos, u10)
KW_MATH_1_F64(tan, u10)
KW_MATH_1_F64(asin, u10)
KW_MATH_1_F64(acos, u10)
KW_MATH_1_F64(atan, u10)
KW_MATH_1(sinh, u10)
KW_MATH_1(cosh, u10)
KW_MATH_1_F64(tanh, u10)
KW_MATH_1(asinh, u10)
KW_MATH_1(acosh, u10)
KW_MATH_1(atanh, u10)
KW_MATH_2(atan2, u10)
KW_MATH_2(pow, u10)

/* a * b + c, rounded once where the instruction set can. */
#if defined(__FMA__) || defined(__aarch64__)
#define KW_FUSES
#define KW_FUSED_f32(a, b, c) fmaf(a, b, c)
#define KW_FUSED_f64(a, b, c) fma(a, b, c)
#else
#define KW_FUSED_f32(a, b, c) ((a) * (b) + (c))
#define KW_FUSED_f64(a, b, c) ((a) * (b) + (c))
#endif

/* The sum of coefficients p[k] z^k, `count` of them, a constant. */
static inline __attribute__((always_inline)) float kw_polynomial(const float *p, int count, float z) {
  float sum = p[count - 1];
  KW_UNROLL
  for (int k = count - 1; k-- > 0;) sum = KW_FUSED_f32(sum, z, p[k]);
  return sum;
}
#define KW_POLYNOMIAL(p, z) kw_polynomial(p, sizeof(p) / sizeof *(p), z)

#define KW_LOOP_F32(name)                                                \
  static inline void name##_f32(float *out, const float *x, int64_t n) { \
    KW_INDEPENDENT                                                       \
    for (int64_t i = 0; i < n; i++) out[i] = kw_##name(x[i]);            \
  }

/* log(2) in two parts: whole multiples of the first are exact. */
#define KW_LOG_2_HIGH 0x1.62e4p-1f
#define KW_LOG_2_LOW 0x1.7f7d1cp-20f

/* A normal number is (1 + f) 2^k with f from root 1/2 - 1 to root 2 - 1. */
static inline int32_t kw_take_power(float number, float *out_f) {
  const uint32_t root_half = 0x3f3504f3;
  uint32_t bits;
  float part;
  memcpy(&bits, &number, sizeof bits);
  const int32_t k = (int32_t)(bits - root_half) >> 23;
  bits -= (uint32_t)k << 23;
  memcpy(&part, &bits, sizeof part);
  *out_f = part - 1;
  return k;
}

/* log(1 + x), the sum being (1 + f) 2^k with f from root 1/2 - 1 to root 2 - 1: k log(2) + f - f^2/2 + s (f^2/2 + R),
 * where s is f / (2 + f) and R, of 2 atanh(s), the sum of 2 s^2i / (2i + 1) (P. T. P. Tang, Table-driven implementation
 * of the logarithm function in IEEE floating-point arithmetic, ACM Transactions on Mathematical Software 16, 1990). f
 * has back what the sum 1 + x loses, found as by D. E. Knuth. */
static inline void log1p_f32(float *out, const float *x, int64_t n) {
  const uint32_t one = 0x3f800000;
  KW_INDEPENDENT
  for (int64_t i = 0; i < n; i++) {
    const float a = x[i], sum = 1 + a, part_of_a = sum - 1, lost = (1 - (sum - part_of_a)) + (a - part_of_a);
    float of_sum, scale;
    const int32_t k = kw_take_power(sum, &of_sum);
    const uint32_t scale_bits = k < 127 ? one - ((uint32_t)k << 23) : 0;
    memcpy(&scale, &scale_bits, sizeof scale);
    const float f = KW_FUSED_f32(lost, scale, of_sum), s = f / (2 + f), z = s * s, half = f * f * 0.5f;
    float series = KW_FUSED_f32(z, 2 / 9.0f, 2 / 7.0f);
    series = KW_FUSED_f32(z, series, 2 / 5.0f);
    series = KW_FUSED_f32(z, series, 2 / 3.0f);
    series = KW_FUSED_f32(z, series, half);
    const float near = f - (half - KW_FUSED_f32(s, series, (float)k * KW_LOG_2_LOW));
    const float value = copysignf(KW_FUSED_f32((float)k, KW_LOG_2_HIGH, near), a);
    out[i] = a == INFINITY ? a : a > -1 ? value : a == -1 ? -INFINITY : NAN;
  }
}

/* exp(x) is 2^n e^r, with a whole n and r within log(2) / 2 of 0. */
typedef struct kw_exp_parts {
  float rest; /* e^r - 1: r + r^2 p(r), fitted for the smallest relative error of e^r, which is 3e-9 */
  int32_t n;
} kw_exp_parts;

/* For x from -150 to 150. Adding `shift` rounds to a whole number that then stands in the lowest bits. */
static inline kw_exp_parts kw_exp_take_apart(float x) {
  static const float p[] = {4.999999343e-01f, 1.666652040e-01f, 4.166839081e-02f, 8.368745232e-03f, 1.381453895e-03f};
  const float shift = 0x1.8p23f;
  const float shifted = KW_FUSED_f32(x, 0x1.715476p0f, shift), n = shifted - shift;
  const float r = KW_FUSED_f32(n, -KW_LOG_2_LOW, KW_FUSED_f32(n, -KW_LOG_2_HIGH, x));
  float sum = KW_FUSED_f32(p[4], r, p[3]);
  sum = KW_FUSED_f32(sum, r, p[2]);
  sum = KW_FUSED_f32(sum, r, p[1]);
  sum = KW_FUSED_f32(sum, r, p[0]);
  int32_t bits;
  memcpy(&bits, &shifted, sizeof bits);
  return (kw_exp_parts){KW_FUSED_f32(r * r, sum, r), bits - 0x4b400000};
}

/* 2^n, n from -126 to 127. */
static inline float kw_power_of_2(int32_t n) {
  const uint32_t bits = (uint32_t)(n + 127) << 23;
  float power;
  memcpy(&power, &bits, sizeof power);
  return power;
}

/* exp(x) for one lane within a loop, coarse at the ends: 0 below exp(-87), and infinity from 2^127.5 on. */
static inline float kw_exp_coarse(float x) {
  const kw_exp_parts e = kw_exp_take_apart(x > 89 ? 89 : x);
  return x < -87 ? 0 : (1 + e.rest) * kw_power_of_2(e.n);
}

/* The same down to the smallest number and up to the largest: by two powers, as none reaches that far. */
static inline float kw_exp_fine(float x) {
  const float most = x > 100 ? 100 : x;
  const kw_exp_parts e = kw_exp_take_apart(most < -110 ? -110 : most);
  const int32_t half = e.n >> 1;
  return (1 + e.rest) * kw_power_of_2(half) * kw_power_of_2(e.n - half);
}

/* The same from -87 to 87, where one power reaches. */
static inline float kw_exp_within(float x) {
  const kw_exp_parts e = kw_exp_take_apart(x);
  return (1 + e.rest) * kw_power_of_2(e.n);
}

/* name_f32: `within` of blocks all of whose lanes are positive numbers of bits from `least` on, `most` of them, without
 * regard to the sign if `signs` has that bit; of others `anywhere`, which gives the same bits for such a lane. */
#define KW_MOSTLY(name, signs, least, most, within, anywhere)                                              \
  static inline void name##_f32(float *out, const float *x, int64_t n) {                                   \
    for (int64_t begin = 0; begin < n; begin += KW_LANE_BLOCK, out += KW_LANE_BLOCK, x += KW_LANE_BLOCK) { \
      const int64_t count = kw_block_at(begin, n);                                                         \
      uint32_t farthest = 0;                                                                               \
      for (int64_t i = 0; i < count; i++) {                                                                \
        uint32_t bits;                                                                                     \
        memcpy(&bits, &x[i], sizeof bits);                                                                 \
        bits = (bits & ~(signs)) - (least);                                                                \
        farthest = bits > farthest ? bits : farthest;                                                      \
      }                                                                                                    \
      if (farthest < (most)) {                                                                             \
        KW_INDEPENDENT                                                                                     \
        for (int64_t i = 0; i < count; i++) out[i] = within(x[i]);                                         \
      } else {                                                                                             \
        KW_INDEPENDENT                                                                                     \
        for (int64_t i = 0; i < count; i++) out[i] = anywhere(x[i]);                                       \
      }                                                                                                    \
    }                                                                                                      \
  }
KW_MOSTLY(exp, 0x80000000u, 0, 0x42ae0000u, kw_exp_within, kw_exp_fine)

/* Half of exp(x) - 1, of 2^n (e^r - 1) + 2^n - 1: the whole has a power that is too large for a number. */
static inline float kw_half_expm1(float x) {
  const kw_exp_parts e = kw_exp_take_apart(x);
  const float power = kw_power_of_2(e.n - 1);
  return KW_FUSED_f32(power, e.rest, power - 0.5f);
}

/* -1 below -18. */
static inline float kw_expm1(float x) {
  const float most = x > 89 ? 89 : x;
  return copysignf(2 * kw_half_expm1(most < -18 ? -18 : most), x);
}
KW_LOOP_F32(expm1)

/* (exp(2 |x|) - 1) / (exp(2 |x|) + 1), which is 1 from 10 on. */
static inline float kw_tanh(float x) {
  const float size = fabsf(x), half = kw_half_expm1(size > 10 ? 20 : 2 * size);
  return copysignf(half / (half + 1), x);
}
KW_LOOP_F32(tanh)

/* Of (1 + f) 2^k log(1 + f) is of_f: f - f^2/2 + f^3 p(f), p fitted for the smallest relative error of that, which is
 * 1.1e-8. */
typedef struct kw_log_parts {
  float of_f, k;
} kw_log_parts;

static inline kw_log_parts kw_log_take_apart(float x, bool may_be_small) {
  static const float p[] = {3.333331943e-01f, -2.500085533e-01f, 2.000216991e-01f, -1.662300080e-01f,
                            1.418305635e-01f, -1.314495355e-01f, 1.287424564e-01f, -7.808194309e-02f};
  const bool is_small = may_be_small && x < 0x1p-126f; /* scaled, its bits tell its size */
  float f;
  const int32_t k = kw_take_power(is_small ? x * 0x1p23f : x, &f);
  const float square = f * f;
  float sum = KW_FUSED_f32(p[7], f, p[6]);
  sum = KW_FUSED_f32(sum, f, p[5]);
  sum = KW_FUSED_f32(sum, f, p[4]);
  sum = KW_FUSED_f32(sum, f, p[3]);
  sum = KW_FUSED_f32(sum, f, p[2]);
  sum = KW_FUSED_f32(sum, f, p[1]);
  sum = KW_FUSED_f32(sum, f, p[0]);
  const float rest = KW_FUSED_f32(square * f, sum, -0.5f * square);
  return (kw_log_parts){f + rest, (float)(k - (is_small ? 23 : 0))};
}

/* What a logarithm is of numbers that have none, and of 0 and infinity. */
static inline float kw_log_at_ends(float x, float value) {
  return x == INFINITY ? x : x > 0 ? value : x == 0 ? -INFINITY : NAN;
}

/* log_f32, log2_f32, log10_f32: `value` of the parts e. Most numbers are normal ones. */
#define KW_LOGARITHM(name, value)                       \
  static inline float kw_##name##_of_normal(float x) {  \
    const kw_log_parts e = kw_log_take_apart(x, false); \
    return value;                                       \
  }                                                     \
  static inline float kw_##name(float x) {              \
    const kw_log_parts e = kw_log_take_apart(x, true);  \
    return kw_log_at_ends(x, value);                    \
  }                                                     \
  KW_MOSTLY(name, 0u, 0x00800000u, 0x7f000000u, kw_##name##_of_normal, kw_##name)
KW_LOGARITHM(log, KW_FUSED_f32(e.k, KW_LOG_2_HIGH, KW_FUSED_f32(e.k, KW_LOG_2_LOW, e.of_f)))
KW_LOGARITHM(log2, KW_FUSED_f32(e.of_f, 0x1.715476p0f, e.k))
KW_LOGARITHM(log10, KW_FUSED_f32(e.k, 0x1.344p-2f, KW_FUSED_f32(e.k, 0x1.3509f8p-18f, e.of_f * 0x1.bcb7b2p-2f)))

#include "angles.h"

#endif /* KEYWAY_CPU_FAST_VECTOR_MATH_H */
