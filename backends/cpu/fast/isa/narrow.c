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

#if defined(F16_AT_ONCE) || defined(BF16_AT_ONCE)
/* SEVERAL(name, operands, value, kind, count, narrowed): `count` elements at once, `kind`##s, which are floats on the
 * way; what is left at the end stands in front of zeros. */
#define WIDEN(name, kind, count, bytes)                    \
  float name##_lanes[count];                               \
  kind##s name##_##kind##s;                                \
  memset(&name##_##kind##s, 0, sizeof name##_##kind##s);   \
  memcpy(&name##_##kind##s, name##_halves + begin, bytes); \
  widen_##kind##s(name##_lanes, name##_##kind##s)
#define WIDEN_1(...) WIDEN(a, __VA_ARGS__)
#define WIDEN_2(...)    \
  WIDEN_1(__VA_ARGS__); \
  WIDEN(b, __VA_ARGS__)
#define WIDEN_3(...)    \
  WIDEN_2(__VA_ARGS__); \
  WIDEN(c, __VA_ARGS__)
#define WIDEN_4(...)    \
  WIDEN_3(__VA_ARGS__); \
  WIDEN(d, __VA_ARGS__)
/* Read before the loop, as in operands.h. */
#define HALVES(at, name) const half *const name##_halves = in[at]
#define HALVES_1 HALVES(0, a)
#define HALVES_2 \
  HALVES_1;      \
  HALVES(1, b)
#define HALVES_3 \
  HALVES_2;      \
  HALVES(2, c)
#define HALVES_4 \
  HALVES_3;      \
  HALVES(3, d)
#define PIECE(operands, value, kind, count, narrowed, bytes) \
  WIDEN_##operands(kind, count, bytes);                      \
  float results[count];                                      \
  KW_INDEPENDENT                                             \
  for (int i = 0; i < count; i++) {                          \
    OPERAND_##operands;                                      \
    results[i] = (T)(value);                                 \
  }                                                          \
  const kind##s narrow_results = narrowed(results);          \
  memcpy((half *)out + begin, &narrow_results, bytes)
#define SEVERAL(name, operands, value, kind, count, narrowed)            \
  static void LANES(name)(void *out, const void *const *in, int64_t n) { \
    HALVES_##operands;                                                   \
    int64_t begin = 0;                                                   \
    for (; begin + count <= n; begin += count) {                         \
      PIECE(operands, value, kind, count, narrowed, sizeof(kind##s));    \
    }                                                                    \
    if (begin == n) return;                                              \
    const size_t bytes = (size_t)(n - begin) * sizeof(half);             \
    PIECE(operands, value, kind, count, narrowed, bytes);                \
  }
#endif

#define BOTH(name, operands, from, value) FN(name, operands, value)
#define CHOICE_BOTH(name, operands, from, value) CHOICE(name, operands, value)
#define ADD_BOTH(name, from) isa->pointwise[KW_POINTWISE_##name][lane] = LANES(name)

#define LANES(name) name##_bf16
#ifdef BF16_AT_ONCE
#define READ(x) (x)
#define FN(name, operands, value) SEVERAL(name, operands, value, bf16, BF16_AT_ONCE, narrow_to_bf16s)
#define CHOICE(name, operands, value) SEVERAL(name, operands, value, bf16, BF16_AT_ONCE, cut_to_bf16s)
#else
/* bf16 are the upper halves of floats: two of them lie in a word, from which either comes in one step, and lanes stay
 * where they are. What is left at the end stands in front of a zero. */
typedef uint32_t pair __attribute__((aligned(2), may_alias));
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
#endif
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
#define READ(x) (x)
#define FN(name, operands, value) SEVERAL(name, operands, value, f16, F16_AT_ONCE, narrow_to_f16s)
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
