/* SPDX-License-Identifier: Apache-2.0
 *
 * Pointwise functions over lanes. Each computes what the reference kernel of its op does, in the same order and without
 * contraction, so that only the math library's functions may give other bits.
 */
#include "level.h"
#include "operands.h"
#include "vector_math.h"

/* FN(name, operands, value): a function whose result is `value` for one lane a, b, c, ... of each operand; TEST: a
 * predicate. T is the lanes' type, LANES(name) what is of it. */
#define STORED T
#define READ(x) (x)
#define FN(name, operands, value) LOOP(name, T, operands, (T)(value))
#define CHOICE(name, operands, value) FN(name, operands, value)

/* BOTH(name, operands, from, value): and the same for operands that repeat; ADD_BOTH(name, from) adds them. */
#define BOTH(name, operands, from, value) \
  FN(name, operands, value)               \
  LOOP_REPEATED(name, T, operands, from, (T)(value))
#define CHOICE_BOTH(name, operands, from, value) BOTH(name, operands, from, value)
#define ADD_BOTH(name, from)                                    \
  isa->pointwise[KW_POINTWISE_##name][lane] = LANES(name);      \
  isa->repeated[KW_POINTWISE_##name][lane] = (kw_repeated_fn) { \
    LANES(name##_REPEATED), from                                \
  }
#define TEST(name, operands, value) LOOP(name, uint8_t, operands, (uint8_t)(value))

/* PASSES(name, operands, before, function, value): x is the math library's function of `before`, and the result is
 * `value`. In blocks, so that x stays near. */
#define PASSES(name, operands, before, function, value)                  \
  static void LANES(name)(void *out, const void *const *in, int64_t n) { \
    POINTERS_##operands;                                                 \
    T block[KW_LANE_BLOCK];                                              \
    for (int64_t begin = 0; begin < n; begin += KW_LANE_BLOCK) {         \
      const int64_t end = begin + kw_block_at(begin, n);                 \
      KW_INDEPENDENT                                                     \
      for (int64_t i = begin; i < end; i++) {                            \
        OPERAND_##operands;                                              \
        block[i - begin] = (before);                                     \
      }                                                                  \
      LANES(function)(block, block, end - begin);                        \
      KW_INDEPENDENT                                                     \
      for (int64_t i = begin; i < end; i++) {                            \
        OPERAND_##operands;                                              \
        const T x = block[i - begin];                                    \
        ((T *)out)[i] = (value);                                         \
      }                                                                  \
    }                                                                    \
  }

/* The same where that function is expm1 or exp, which may be coarse at its ends or not: of f32 in one pass. */
#define ONE_PASS(name, operands, before, function, value)               \
  static void name##_f32(void *out, const void *const *in, int64_t n) { \
    POINTERS_##operands;                                                \
    T *const results = out;                                             \
    KW_INDEPENDENT                                                      \
    for (int64_t i = 0; i < n; i++) {                                   \
      OPERAND_##operands;                                               \
      const T x = function(before);                                     \
      results[i] = (value);                                             \
    }                                                                   \
  }
#define PASSES_COARSE_f32(name, operands, before, value) ONE_PASS(name, operands, before, kw_exp_coarse, value)
#define PASSES_FINE_f32(name, operands, before, value) ONE_PASS(name, operands, before, kw_exp_fine, value)
#define PASSES_EXPM1_f32(name, operands, before, value) ONE_PASS(name, operands, before, kw_expm1, value)
#define PASSES_EXPM1_f64(name, operands, before, value) PASSES(name, operands, before, expm1, value)
#define PASSES_COARSE_f64(name, operands, before, value) PASSES(name, operands, before, exp, value)
#define PASSES_FINE_f64(name, operands, before, value) PASSES(name, operands, before, exp, value)

/* WHERE_NEEDED(name, operands, passes, needed, otherwise): as `passes`, one of those, but a block in which no lane is
 * `needed` becomes `otherwise`, which is what lanes become there that are not. */
#define WHERE_NEEDED(name, operands, passes, needed, otherwise)          \
  static void LANES(name)(void *out, const void *const *in, int64_t n) { \
    POINTERS_##operands;                                                 \
    for (int64_t begin = 0; begin < n; begin += KW_LANE_BLOCK) {         \
      const int64_t end = begin + kw_block_at(begin, n);                 \
      I any = 0;                                                         \
      for (int64_t i = begin; i < end; i++) {                            \
        OPERAND_##operands;                                              \
        any |= (needed) ? 1 : 0;                                         \
      }                                                                  \
      if (any != 0) {                                                    \
        const void *const block[] = {LANES_FROM_##operands(begin)};      \
        LANES(passes)((T *)out + begin, block, end - begin);             \
        continue;                                                        \
      }                                                                  \
      KW_INDEPENDENT                                                     \
      for (int64_t i = begin; i < end; i++) {                            \
        OPERAND_##operands;                                              \
        ((T *)out)[i] = (otherwise);                                     \
      }                                                                  \
    }                                                                    \
  }
#define LANES_FROM_4(begin) a_lanes + (begin), b_lanes + (begin), c_lanes + (begin), d_lanes + (begin)
#define LANES_FROM_6(begin) LANES_FROM_4(begin), e_lanes + (begin), f_lanes + (begin)

/* MENDED(name, function, operands, astray): the math library's function, but one by one where the vector one goes
 * astray: near overflow and below the smallest normal number. x is its result. */
#define MENDED(name, function, operands, astray)                              \
  static void LANES(name)(void *out, const void *const *in, int64_t n) {      \
    POINTERS_##operands;                                                      \
    T block[KW_LANE_BLOCK];                                                   \
    for (int64_t begin = 0; begin < n; begin += KW_LANE_BLOCK) {              \
      const int64_t end = begin + kw_block_at(begin, n);                      \
      LANES(function)(block, VECTORS_##operands, end - begin);                \
      I any = 0;                                                              \
      for (int64_t i = begin; i < end; i++) {                                 \
        OPERAND_##operands;                                                   \
        const T x = block[i - begin];                                         \
        (void)x;                                                              \
        any |= (astray) ? 1 : 0;                                              \
      }                                                                       \
      for (int64_t i = begin; any != 0 && i < end; i++) {                     \
        OPERAND_##operands;                                                   \
        const T x = block[i - begin];                                         \
        if (astray) block[i - begin] = MATH(function)(SCALARS_##operands);    \
        (void)x;                                                              \
      }                                                                       \
      memcpy((T *)out + begin, block, (size_t)(end - begin) * sizeof *block); \
    }                                                                         \
  }
#define VECTORS_1 a_lanes + begin
#define VECTORS_2 a_lanes + begin, b_lanes + begin
#define SCALARS_1 a
#define SCALARS_2 a, b

/* tail_share: what of the normal distribution lies beyond t, from 0 on, divided by exp(-t^2 / 2); that is half of
 * exp(z^2) erfc(z) where z is t / root 2. In f32 a quotient of polynomials, all of whose coefficients are positive,
 * fitted for the smallest relative error up to 14.6, where exp(-t^2 / 2) is 0; it is 6e-9. */
static inline float tail_share_f32(float t) {
  static const float above[] = {5.00000003e-01f, 4.38494845e-01f, 1.83383322e-01f, 4.06832060e-02f, 4.12373395e-03f};
  static const float below[] = {1, 1.67487468e+00f, 1.20311845e+00f, 4.69861844e-01f, 1.01984053e-01f, 1.03365501e-02f};
  float p = above[4], q = below[5];
  KW_UNROLL
  for (int k = 4; k-- > 0;) p = KW_FUSED_f32(p, t, above[k]);
  KW_UNROLL
  for (int k = 5; k-- > 0;) q = KW_FUSED_f32(q, t, below[k]);
  return p / q;
}

/* (1 + 2 z) exp(z^2) erfc(z) for z of 0 and more, by the powers of q = (z - 3) / (z + 3) from the lowest on: one smooth
 * function from end to end (Shepherd and Laframboise, Chebyshev Approximation of (1 + 2x)exp(x^2)erfc x in 0 <= x <
 * inf, Mathematics of Computation 36, 1981). The coefficients are those of the Chebyshev series in q of degree 24, for
 * an error of 9e-18. */
#define ERFC_SERIES                                                                                     \
  1.2530080582697296e+00, -1.3562110612458117e-01, -4.7562294353449198e-02, 1.2964515870275939e-01,     \
      -1.1927366341538638e-01, 6.8308027344009897e-02, -2.3770514917171338e-02, 2.5293918156939696e-03, \
      1.8886903449991718e-03, -7.7983226965433060e-04, -1.0515971958448065e-04, 1.2509934245837290e-04, \
      4.9491966499683450e-06, -2.0100542268525612e-05, -7.3082814687836140e-07, 3.4723709449771682e-06, \
      3.5576086684080595e-07, -6.1660114603987257e-07, -1.4047654315428462e-07, 1.0183620603842736e-07, \
      4.1064013667940355e-08, -1.3312919661038687e-08, -8.2175950587114546e-09, 9.8625335103455874e-10, \
      8.3937348586908774e-10

/* In f64 by that; its two quotients have one division. */
static inline double tail_share_f64(double t) {
  static const double series[] = {ERFC_SERIES};
  enum { TERMS = sizeof series / sizeof *series };
  const double z = t * 0.70710678118654752440, divided = 0.5 / ((z + 3) * (1 + 2 * z));
  const double q = (z - 3) * (1 + 2 * z) * (2 * divided);
  double sum = series[TERMS - 1];
  KW_UNROLL
  for (int k = TERMS - 1; k-- > 0;) sum = KW_FUSED_f64(sum, q, series[k]);
  return sum * (z + 3) * divided;
}

/* erf(x) / x by the powers of x^2, 2 / sqrt(pi) (-1)^k / (k! (2k + 1)): for x up to 1/2. */
#define ERF_SERIES_f32                                                                                           \
  1.128379167e+00f, -3.761263890e-01f, 1.128379167e-01f, -2.686617065e-02f, 5.223977625e-03f, -8.548327023e-04f, \
      1.205533298e-04f
#define ERF_SERIES_f64                                                                                              \
  1.1283791670955125739e+00, -3.7612638903183752463e-01, 1.1283791670955125739e-01, -2.6866170645131251759e-02,     \
      5.2239776254421878421e-03, -8.5483270234508528325e-04, 1.2055332981789664251e-04, -1.4925650358406250977e-05, \
      1.6462114365889247402e-06, -1.6365844691234924317e-07, 1.4807192815879217240e-08, -1.2290555301717927353e-09, \
      9.4227590646504109706e-11

/* Whether the vector functions go astray. */
#define LOG1P_STRAYS_f32 false
#define LOG1P_STRAYS_f64 true
#ifdef KW_FUSES
#define TAN_STRAYS_f32 false
#else
#define TAN_STRAYS_f32 true
#endif
#define TAN_STRAYS_f64 true

/* Lanes of a quotient below this and of its whole part are exact, and so is what a division leaves. */
#define QUOTIENT_f32 0x1p22f
#define QUOTIENT_f64 0x1p51

/* The smallest normal number, one whose square fits, and one whose exponential does. */
#define SMALLEST_f32 0x1p-126f
#define SMALLEST_f64 0x1p-1022
#define SQUARE_FITS_f32 0x1p60f
#define SQUARE_FITS_f64 0x1p500
#define EXP_FITS_f32 88
#define EXP_FITS_f64 709

#define EACH "pointwise_float.inc"
#include "each_float.inc"
#define EACH "pointwise_int.inc"
#include "each_int.inc"

#define T uint8_t
#define LANES(name) name##_byte
TEST(LOGICAL_AND, 2, (a != 0) & (b != 0))
TEST(LOGICAL_OR, 2, (a != 0) | (b != 0))
TEST(LOGICAL_XOR, 2, (a != 0) ^ (b != 0))
TEST(LOGICAL_NOT, 1, a == 0)

static void add_pointwise_byte(kw_isa *isa) {
  isa->pointwise[KW_POINTWISE_LOGICAL_AND][KW_LANE_BYTE] = LANES(LOGICAL_AND);
  isa->pointwise[KW_POINTWISE_LOGICAL_OR][KW_LANE_BYTE] = LANES(LOGICAL_OR);
  isa->pointwise[KW_POINTWISE_LOGICAL_XOR][KW_LANE_BYTE] = LANES(LOGICAL_XOR);
  isa->pointwise[KW_POINTWISE_LOGICAL_NOT][KW_LANE_BYTE] = LANES(LOGICAL_NOT);
}

void KW_ISA_NAME(kw_add_pointwise)(kw_isa *isa) {
  add_pointwise_f32(isa);
  add_pointwise_f64(isa);
  add_pointwise_i32(isa);
  add_pointwise_i64(isa);
  add_pointwise_byte(isa);
}
