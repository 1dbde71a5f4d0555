/* SPDX-License-Identifier: Apache-2.0
 *
 * What AVX512_FP16 adds to AVX-512: arithmetic of f16. One step of it has the bits of the same step in f32, rounded
 * after that. Products of two f16, 11 bits each, are exact in f32's 24 bits. For a sum or a difference 24 bits are as
 * many as it takes (twice 11 and 2 more) for the rounding to 24 not to change the one to 11: Figueroa, "When is double
 * rounding innocuous?", SIGNUM Newsletter 30, 1995; where it is subnormal it is exact.
 */
#include "../isa.h"

#include <immintrin.h>

#define WIDTH 32

/* FN(name, operands, value): `value` of vectors a and b, which are the first operand and the last. */
#define FN(name, operands, value)                                                                       \
  static inline __m512h name##_of(__m512h a, __m512h b) {                                               \
    return (value);                                                                                     \
  }                                                                                                     \
  static void name(void *out, const void *const *in, int64_t n) {                                       \
    const uint16_t *a = in[0], *b = in[(operands)-1];                                                   \
    uint16_t *to = out;                                                                                 \
    int64_t i = 0;                                                                                      \
    for (; i + WIDTH <= n; i += WIDTH) {                                                                \
      _mm512_storeu_ph(to + i, name##_of(_mm512_loadu_ph(a + i), _mm512_loadu_ph(b + i)));              \
    }                                                                                                   \
    const __mmask32 rest = (__mmask32)((1u << (n - i)) - 1);                                            \
    const __m512i x = _mm512_maskz_loadu_epi16(rest, a + i), y = _mm512_maskz_loadu_epi16(rest, b + i); \
    const __m512h last = name##_of(_mm512_castsi512_ph(x), _mm512_castsi512_ph(y));                     \
    _mm512_mask_storeu_epi16(to + i, rest, _mm512_castph_si512(last));                                  \
  }
FN(add, 2, _mm512_add_ph(a, b))
FN(sub, 2, _mm512_sub_ph(a, b))
FN(mul, 2, _mm512_mul_ph(a, b))
FN(square, 1, _mm512_mul_ph(a, b))

void kw_isa_fill_avx512_fp16(kw_isa *isa) {
  kw_isa_fill_avx512(isa);
  isa->pointwise[KW_POINTWISE_ADD][KW_LANE_F16] = add;
  isa->pointwise[KW_POINTWISE_SUB][KW_LANE_F16] = sub;
  isa->pointwise[KW_POINTWISE_MUL][KW_LANE_F16] = mul;
  isa->pointwise[KW_POINTWISE_SQUARE][KW_LANE_F16] = square;
}
