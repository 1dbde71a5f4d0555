/* SPDX-License-Identifier: Apache-2.0
 *
 * Pointwise functions on elements of 16 bits as they lie in memory: computed in f32 and rounded once, to the same bits
 * as by way of f32 lanes, but without the way.
 */
#include "halves.h"
#include "operands.h"

#include <math.h>

#define T float
#define STORED half
#define MATH(name) name##f

/* bf16 are the upper halves of floats: two of them lie in a word, from which either comes in one step, and lanes stay
 * where they are. What is left at the end stands in front of a zero. */
typedef uint32_t pair __attribute__((aligned(2), may_alias));

#define LANES(name) name##_bf16
#undef STORED
#define STORED pair
#define READ(x) float_of_bits(IS_UPPER ? (x)&0xffff0000u : (x) << 16)
#define HALF(is_upper, operands, value, rounded) \
  {                                              \
    enum { IS_UPPER = is_upper };                \
    OPERAND_##operands;                          \
    rounded = (T)(value);                        \
  }
#define PAIRS(name, operands, value, round)                                                     \
  static void name##_pairs(pair *out, const void *const *in, int64_t n) {                       \
    POINTERS_##operands;                                                                        \
    KW_INDEPENDENT                                                                              \
    for (int64_t i = 0; i < n; i++) {                                                           \
      T lower, upper;                                                                           \
      HALF(0, operands, value, lower)                                                           \
      HALF(1, operands, value, upper)                                                           \
      out[i] = round(bits_of_float(lower)) >> 16 | (round(bits_of_float(upper)) & 0xffff0000u); \
    }                                                                                           \
  }                                                                                             \
  static void LANES(name)(void *out, const void *const *in, int64_t n) {                        \
    name##_pairs(out, in, n / 2);                                                               \
    if (n % 2 == 0) return;                                                                     \
    pair last[operands], result;                                                                \
    const void *from[operands];                                                                 \
    for (int k = 0; k < operands; k++) {                                                        \
      last[k] = ((const half *)in[k])[n - 1];                                                   \
      from[k] = &last[k];                                                                       \
    }                                                                                           \
    name##_pairs(&result, from, 1);                                                             \
    ((half *)out)[n - 1] = (half)result;                                                        \
  }
#define FN(name, operands, value) PAIRS(name, operands, value, round_to_bf16)
#define CHOICE(name, operands, value) PAIRS(name, operands, value, )
#include "arithmetic.inc"
#undef CHOICE
#undef LANES
#undef READ
#undef FN
#undef STORED
#define STORED half

#define LANES(name) name##_f16
#define CHOICE(name, operands, value) FN(name, operands, value)
#ifdef F16_AT_ONCE
/* As many at once as the processor converts; what is left at the end stands in front of zeros. */
#define READ(x) (x)
#define WIDEN(at, name, bytes)                                 \
  float name##_lanes[F16_AT_ONCE];                             \
  halves name##_halves;                                        \
  memset(&name##_halves, 0, sizeof name##_halves);             \
  memcpy(&name##_halves, (const half *)in[at] + begin, bytes); \
  widen_halves(name##_lanes, name##_halves)
#define WIDEN_1(bytes) WIDEN(0, a, bytes)
#define WIDEN_2(bytes) \
  WIDEN_1(bytes);      \
  WIDEN(1, b, bytes)
#define WIDEN_3(bytes) \
  WIDEN_2(bytes);      \
  WIDEN(2, c, bytes)
#define WIDEN_4(bytes) \
  WIDEN_3(bytes);      \
  WIDEN(3, d, bytes)
#define PIECE(operands, value, bytes)                \
  WIDEN_##operands(bytes);                           \
  float results[F16_AT_ONCE];                        \
  KW_INDEPENDENT                                     \
  for (int i = 0; i < F16_AT_ONCE; i++) {            \
    OPERAND_##operands;                              \
    results[i] = (T)(value);                         \
  }                                                  \
  const halves narrowed = narrow_to_halves(results); \
  memcpy((half *)out + begin, &narrowed, bytes)
#define FN(name, operands, value)                                        \
  static void LANES(name)(void *out, const void *const *in, int64_t n) { \
    int64_t begin = 0;                                                   \
    for (; begin + F16_AT_ONCE <= n; begin += F16_AT_ONCE) {             \
      PIECE(operands, value, sizeof(halves));                            \
    }                                                                    \
    if (begin == n) return;                                              \
    const size_t bytes = (size_t)(n - begin) * sizeof(half);             \
    PIECE(operands, value, bytes);                                       \
  }
#else
#define READ(x) read_f16(x)
#define FN(name, operands, value) LOOP(name, half, operands, write_f16((T)(value)))
#endif
#include "arithmetic.inc"

#undef LANES
#undef READ
#undef FN

/* What changes the sign alone is one bit's matter in both. */
#define LANES(name) name##_bits
#define READ(x) (x)
#undef T
#define T half
#define FN(name, operands, value) LOOP(name, half, operands, (half)(value))
FN(NEG, 1, a ^ 0x8000u)
FN(ABS, 1, a & 0x7fffu)

static void add_bits(kw_isa *isa, kw_lane lane) {
  isa->pointwise[KW_POINTWISE_NEG][lane] = LANES(NEG);
  isa->pointwise[KW_POINTWISE_ABS][lane] = LANES(ABS);
}

void KW_ISA_NAME(kw_add_narrow)(kw_isa *isa) {
  add_arithmetic_bf16(isa, KW_LANE_BF16);
  add_arithmetic_f16(isa, KW_LANE_F16);
  add_bits(isa, KW_LANE_BF16);
  add_bits(isa, KW_LANE_F16);
}
