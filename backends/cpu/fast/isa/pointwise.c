/* SPDX-License-Identifier: Apache-2.0
 *
 * Pointwise functions over lanes. Each computes what the reference kernel of its op does, in the same order and without
 * contraction, so that only the math library's functions may give other bits.
 */
#include "lanes.h"
#include "vector_math.h"

/* FN(name, operands, value): a function whose result is `value` for one lane a, b, c, d of each operand; TEST: a
 * predicate. T is the lanes' type, LANES(name) what is of it. */
#define OPERAND(at, name)                \
  const T name = ((const T *)in[at])[i]; \
  (void)name
#define OPERAND_1 OPERAND(0, a)
#define OPERAND_2 \
  OPERAND_1;      \
  OPERAND(1, b)
#define OPERAND_3 \
  OPERAND_2;      \
  OPERAND(2, c)
#define OPERAND_4 \
  OPERAND_3;      \
  OPERAND(3, d)
#define LOOP(name, result, operands, value)                              \
  static void LANES(name)(void *out, const void *const *in, int64_t n) { \
    KW_INDEPENDENT                                                       \
    for (int64_t i = 0; i < n; i++) {                                    \
      OPERAND_##operands;                                                \
      ((result *)out)[i] = (result)(value);                              \
    }                                                                    \
  }
#define FN(name, operands, value) LOOP(name, T, operands, value)
#define TEST(name, operands, value) LOOP(name, uint8_t, operands, value)

/* PASSES(name, operands, before, function, value): x is the math library's function of `before`, and the result is
 * `value`. In blocks, so that x stays near. */
#define PASSES(name, operands, before, function, value)                          \
  static void LANES(name)(void *out, const void *const *in, int64_t n) {         \
    T block[KW_LANE_BLOCK];                                                      \
    for (int64_t begin = 0; begin < n; begin += KW_LANE_BLOCK) {                 \
      const int64_t end = n - begin < KW_LANE_BLOCK ? n : begin + KW_LANE_BLOCK; \
      KW_INDEPENDENT                                                             \
      for (int64_t i = begin; i < end; i++) {                                    \
        OPERAND_##operands;                                                      \
        block[i - begin] = (before);                                             \
      }                                                                          \
      LANES(function)(block, block, end - begin);                                \
      KW_INDEPENDENT                                                             \
      for (int64_t i = begin; i < end; i++) {                                    \
        OPERAND_##operands;                                                      \
        const T x = block[i - begin];                                            \
        ((T *)out)[i] = (value);                                                 \
      }                                                                          \
    }                                                                            \
  }

/* MENDED(name, function, operands, astray): the math library's function, but one by one where the vector one goes
 * astray: near overflow and below the smallest normal number. x is its result. */
#define MENDED(name, function, operands, astray)                                 \
  static void LANES(name)(void *out, const void *const *in, int64_t n) {         \
    T block[KW_LANE_BLOCK];                                                      \
    for (int64_t begin = 0; begin < n; begin += KW_LANE_BLOCK) {                 \
      const int64_t end = n - begin < KW_LANE_BLOCK ? n : begin + KW_LANE_BLOCK; \
      LANES(function)(block, VECTORS_##operands, end - begin);                   \
      T any = 0;                                                                 \
      for (int64_t i = begin; i < end; i++) {                                    \
        OPERAND_##operands;                                                      \
        const T x = block[i - begin];                                            \
        (void)x;                                                                 \
        any += (astray) ? 1 : 0;                                                 \
      }                                                                          \
      for (int64_t i = begin; any > 0 && i < end; i++) {                         \
        OPERAND_##operands;                                                      \
        const T x = block[i - begin];                                            \
        if (astray) block[i - begin] = MATH(function)(SCALARS_##operands);       \
        (void)x;                                                                 \
      }                                                                          \
      memcpy((T *)out + begin, block, (size_t)(end - begin) * sizeof *block);    \
    }                                                                            \
  }
#define VECTORS_1 (const T *)in[0] + begin
#define VECTORS_2 (const T *)in[0] + begin, (const T *)in[1] + begin
#define SCALARS_1 a
#define SCALARS_2 a, b

#define T float
#define LANES(name) name##_f32
#define MATH(name) name##f
#define SMALLEST 0x1p-126f /* normal */
#define SQUARE_FITS 0x1p60f
#define EXP_FITS 88
#include "pointwise_float.inc"
#undef T
#undef LANES
#undef MATH
#undef SMALLEST
#undef SQUARE_FITS
#undef EXP_FITS

#define T double
#define LANES(name) name##_f64
#define MATH(name) name
#define SMALLEST 0x1p-1022
#define SQUARE_FITS 0x1p500
#define EXP_FITS 709
#include "pointwise_float.inc"
#undef T
#undef LANES
#undef MATH
#undef SMALLEST
#undef SQUARE_FITS
#undef EXP_FITS

#define T int32_t
#define U uint32_t
#define LANES(name) name##_i32
#include "pointwise_int.inc"
#undef T
#undef U
#undef LANES

#define T int64_t
#define U uint64_t
#define LANES(name) name##_i64
#include "pointwise_int.inc"
#undef T
#undef U
#undef LANES

void KW_ISA_NAME(kw_add_pointwise)(kw_isa *isa) {
  add_pointwise_f32(isa);
  add_pointwise_f64(isa);
  add_pointwise_i32(isa);
  add_pointwise_i64(isa);
}
