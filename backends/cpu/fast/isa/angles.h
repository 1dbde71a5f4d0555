/* SPDX-License-Identifier: Apache-2.0
 *
 * Sine, cosine, tangent and their inverses of f32 lanes. Polynomials are fitted for the smallest relative error of the
 * function. Included by vector_math.h.
 */
#ifndef KEYWAY_CPU_FAST_ANGLES_H
#define KEYWAY_CPU_FAST_ANGLES_H

/* Half of pi in three parts. */
#define KW_PI_2_HIGH 0x1.921fb6p0f
#define KW_PI_2_MIDDLE (-0x1.777a5cp-25f)
#define KW_PI_2_LOW (-0x1.ee59dap-50f)

/* t + t^3 p(t^2), error 1.7e-8, where t is |x| up to 1; of larger ones it is the reciprocal, and the result what lacks
 * to half of pi. */
static inline float kw_atan(float x) {
  static const float p[] = {-3.333315253e-01f, 1.999377310e-01f, -1.421105266e-01f, 1.066599563e-01f,
                            -7.552198321e-02f, 4.321170226e-02f, -1.636784710e-02f, 2.920676023e-03f};
  const float size = fabsf(x);
  const bool is_far = size > 1;
  const float t = (is_far ? 1 : size) / (is_far ? size : 1), z = t * t;
  const float near = KW_FUSED_f32(t * z, KW_POLYNOMIAL(p, z), t);
  return copysignf(is_far ? KW_PI_2_HIGH - (near - KW_PI_2_MIDDLE) : near, x);
}
KW_LOOP_F32(atan)

/* asin(|x|) up to 1/2: s + s^3 p(s^2), error 5e-9; from there on half of what acos is, by s^2 = (1 - |x|) / 2. */
static inline float kw_asin_part(float x) {
  static const float p[] = {1.666675359e-01f, 7.495241612e-02f, 4.547709972e-02f, 2.414758131e-02f, 4.221861809e-02f};
  const float size = fabsf(x), z = size > 0.5f ? 0.5f - 0.5f * size : size * size;
  const float s = size > 0.5f ? sqrtf(z) : size;
  return KW_FUSED_f32(s * z, KW_POLYNOMIAL(p, z), s);
}

static inline float kw_asin(float x) {
  const float part = kw_asin_part(x);
  return copysignf(fabsf(x) > 0.5f ? KW_PI_2_HIGH - (2 * part - KW_PI_2_MIDDLE) : part, x);
}
KW_LOOP_F32(asin)

static inline float kw_acos(float x) {
  const float part = copysignf(kw_asin_part(x), x), far = x < 0 ? 2 : 0;
  const float by_root = far * KW_PI_2_HIGH + (2 * part + far * KW_PI_2_MIDDLE);
  return fabsf(x) > 0.5f ? by_root : KW_PI_2_HIGH - (part - KW_PI_2_MIDDLE);
}
KW_LOOP_F32(acos)

#ifdef KW_FUSES
/* |x| is k halves of pi and r, at most half of that from 0: whole numbers k up to 2^14 times the first part of half of
 * pi leave no rest of x. Adding `shift` rounds to a whole number that then stands in the lowest bits. */
#define KW_ANGLE_MOST 0x1p14f
typedef struct kw_angle {
  float r;
  uint32_t k;
} kw_angle;

static inline kw_angle kw_angle_take_apart(float size) {
  const float shift = 0x1.8p23f, shifted = KW_FUSED_f32(size, 0x1.45f306p-1f, shift), k = shifted - shift;
  float r = KW_FUSED_f32(k, -KW_PI_2_HIGH, size);
  r = KW_FUSED_f32(k, -KW_PI_2_MIDDLE, r);
  uint32_t bits;
  memcpy(&bits, &shifted, sizeof bits);
  return (kw_angle){KW_FUSED_f32(k, -KW_PI_2_LOW, r), bits};
}

/* x with its sign changed where bit 1 of `quarters` is set. */
static inline float kw_turn_sign(float x, uint32_t quarters) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  bits ^= quarters << 30 & 0x80000000u;
  memcpy(&x, &bits, sizeof bits);
  return x;
}

/* The sine of k halves of pi and r, of r by r + r^3 p(r^2), error 4e-9, or by its cosine, 1 - r^2 / 2 + r^4 q(r^2),
 * error 1e-10. */
static inline float kw_sin_of(kw_angle angle) {
  static const float p[] = {-1.666665524e-01f, 8.332173340e-03f, -1.951667073e-04f};
  static const float q[] = {4.166664556e-02f, -1.388736186e-03f, 2.443774792e-05f};
  const float r = angle.r, z = r * r;
  const float sine = KW_FUSED_f32(r * z, KW_POLYNOMIAL(p, z), r);
  const float cosine = KW_FUSED_f32(z * z, KW_POLYNOMIAL(q, z), KW_FUSED_f32(z, -0.5f, 1));
  return kw_turn_sign(angle.k & 1 ? cosine : sine, angle.k);
}

static inline float kw_sin(float x) {
  return copysignf(1, x) * kw_sin_of(kw_angle_take_apart(fabsf(x)));
}

static inline float kw_cos(float x) {
  kw_angle angle = kw_angle_take_apart(fabsf(x));
  angle.k++;
  return kw_sin_of(angle);
}

/* r + r^3 p(r^2), error 2e-8, and of what an odd k is added to minus the reciprocal. */
static inline float kw_tan(float x) {
  static const float p[] = {3.333313763e-01f, 1.333927214e-01f, 5.337534100e-02f,
                            2.454942092e-02f, 2.940357663e-03f, 9.485886432e-03f};
  const kw_angle angle = kw_angle_take_apart(fabsf(x));
  const float z = angle.r * angle.r, near = KW_FUSED_f32(angle.r * z, KW_POLYNOMIAL(p, z), angle.r);
  const bool is_odd = angle.k & 1;
  return copysignf(1, x) * ((is_odd ? -1 : near) / (is_odd ? near : 1));
}

/* Lanes that are larger, or no numbers, are the math library's. */
#define KW_ANGLES(name)                                                                                    \
  KW_MATH_1_F32(any_##name, name, u10)                                                                     \
  static inline void name##_f32(float *out, const float *x, int64_t n) {                                   \
    for (int64_t begin = 0; begin < n; begin += KW_LANE_BLOCK, out += KW_LANE_BLOCK, x += KW_LANE_BLOCK) { \
      const int64_t count = kw_block_at(begin, n);                                                         \
      float others[KW_LANE_BLOCK];                                                                         \
      int32_t any = 0;                                                                                     \
      for (int64_t i = 0; i < count; i++) any |= fabsf(x[i]) <= KW_ANGLE_MOST ? 0 : 1;                     \
      if (any == 0) {                                                                                      \
        KW_INDEPENDENT                                                                                     \
        for (int64_t i = 0; i < count; i++) out[i] = kw_##name(x[i]);                                      \
        continue;                                                                                          \
      }                                                                                                    \
      any_##name(others, x, count);                                                                        \
      KW_INDEPENDENT                                                                                       \
      for (int64_t i = 0; i < count; i++) {                                                                \
        out[i] = fabsf(x[i]) <= KW_ANGLE_MOST ? kw_##name(x[i]) : others[i];                               \
      }                                                                                                    \
    }                                                                                                      \
  }
KW_ANGLES(sin)
KW_ANGLES(cos)
KW_ANGLES(tan)
#else
KW_MATH_1_F32(sin_f32, sin, u10)
KW_MATH_1_F32(cos_f32, cos, u10)
KW_MATH_1_F32(tan_f32, tan, u10)
#endif

#endif /* KEYWAY_CPU_FAST_ANGLES_H */
