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

#define LANES(name) name##_bf16
#define READ(x) read_bf16(x)
#define FN(name, operands, value) LOOP(name, half, operands, write_bf16((T)(value)))
#define CHOICE(name, operands, value) LOOP(name, half, operands, (half)(bits_of_float((T)(value)) >> 16))
#include "arithmetic.inc"
#undef CHOICE
#undef LANES
#undef READ
#undef FN

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
