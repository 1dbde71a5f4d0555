/* SPDX-License-Identifier: Apache-2.0
 *
 * The instruction set that the fast kernels of this process use: the best that processor and operating system have, or
 * what KEYWAY_CPU_CAPABILITY says.
 */
#ifndef KEYWAY_CPU_FAST_CAPABILITY_H
#define KEYWAY_CPU_FAST_CAPABILITY_H

#include <stdbool.h>
#include <stdint.h>

typedef enum kw_capability {
  KW_CAPABILITY_REFERENCE, /* no fast kernels at all */
  KW_CAPABILITY_BASELINE,  /* what every processor of this architecture has: SSE2, NEON */
  KW_CAPABILITY_AVX2,      /* with FMA and F16C */
  KW_CAPABILITY_AVX512,    /* F, BW, DQ and VL */
  KW_CAPABILITY_AVX512_FP16,
  KW_CAPABILITY_COUNT
} kw_capability;

/* What a processor has, bit by bit. */
enum {
  KW_FEATURE_AVX2 = 1u << 0,
  KW_FEATURE_FMA = 1u << 1,
  KW_FEATURE_F16C = 1u << 2,
  KW_FEATURE_AVX512F = 1u << 3,
  KW_FEATURE_AVX512BW = 1u << 4,
  KW_FEATURE_AVX512DQ = 1u << 5,
  KW_FEATURE_AVX512VL = 1u << 6,
  KW_FEATURE_AVX512_FP16 = 1u << 7
};

/* Of this processor, as far as the operating system keeps their registers. */
uint32_t kw_capability_features(void);

/* The name that the environment variable knows it by: "avx2". */
const char *kw_capability_name(kw_capability capability);

/* What to use of those that were compiled, 1 << level each, where `features` are there and `wanted` is the environment
 * variable's text, or NULL. *out_why says in one static text why a wish is not heard, since it is no name, or lacks
 * features, or was not compiled; or that nothing fast was that this processor can run. Otherwise it is NULL. */
kw_capability kw_capability_choose(uint32_t compiled, uint32_t features, const char *wanted, const char **out_why);

#endif /* KEYWAY_CPU_FAST_CAPABILITY_H */
