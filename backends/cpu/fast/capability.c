/* SPDX-License-Identifier: Apache-2.0
 *
 * Which instruction set there is and which one is used.
 */
#include "capability.h"

#include <stddef.h>
#include <string.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

enum {
  AVX2 = KW_FEATURE_AVX2 | KW_FEATURE_FMA | KW_FEATURE_F16C,
  AVX512 = AVX2 | KW_FEATURE_AVX512F | KW_FEATURE_AVX512BW | KW_FEATURE_AVX512DQ | KW_FEATURE_AVX512VL
};

static const struct {
  const char *name;
  uint32_t needs;
  const char *lacks; /* what is said where the processor has not all of that */
} levels[KW_CAPABILITY_COUNT] = {
    [KW_CAPABILITY_REFERENCE] = {"reference", 0, ""},
    [KW_CAPABILITY_BASELINE] = {"baseline", 0, ""},
    [KW_CAPABILITY_AVX2] = {"avx2", AVX2,
                            "KEYWAY_CPU_CAPABILITY=avx2 is ignored: this processor lacks AVX2, FMA or F16C"},
    [KW_CAPABILITY_AVX512] = {"avx512", AVX512,
                              "KEYWAY_CPU_CAPABILITY=avx512 is ignored: this processor lacks AVX-512 F, BW, DQ or VL"},
    [KW_CAPABILITY_AVX512_FP16] =
        {"avx512_fp16", AVX512 | KW_FEATURE_AVX512_FP16,
         "KEYWAY_CPU_CAPABILITY=avx512_fp16 is ignored: this processor lacks AVX512_FP16 or what avx512 needs"},
};

#if defined(__x86_64__)
/* The registers that the operating system saves (XCR0). */
static uint32_t saved_registers(void) {
  uint32_t low, high;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low;
}

uint32_t kw_capability_features(void) {
  enum { YMM = 0x6, ZMM = 0xe6 };
  uint32_t a, b, c, d, features = 0;
  if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_OSXSAVE)) return 0;
  const uint32_t saved = saved_registers();
  if ((saved & YMM) != YMM) return 0;
  if (c & bit_FMA) features |= KW_FEATURE_FMA;
  if (c & bit_F16C) features |= KW_FEATURE_F16C;
  if (!__get_cpuid_count(7, 0, &a, &b, &c, &d)) return features;
  if (b & bit_AVX2) features |= KW_FEATURE_AVX2;
  if ((saved & ZMM) != ZMM) return features;
  if (b & bit_AVX512F) features |= KW_FEATURE_AVX512F;
  if (b & bit_AVX512BW) features |= KW_FEATURE_AVX512BW;
  if (b & bit_AVX512DQ) features |= KW_FEATURE_AVX512DQ;
  if (b & bit_AVX512VL) features |= KW_FEATURE_AVX512VL;
  if (d & bit_AVX512FP16) features |= KW_FEATURE_AVX512_FP16;
  return features;
}
#else
uint32_t kw_capability_features(void) {
  return 0;
}
#endif

const char *kw_capability_name(kw_capability capability) {
  return levels[capability].name;
}

static bool is_there(kw_capability level, uint32_t compiled, uint32_t features) {
  return (compiled >> level & 1) && (levels[level].needs & ~features) == 0;
}

static kw_capability best(uint32_t compiled, uint32_t features) {
  kw_capability found = KW_CAPABILITY_REFERENCE;
  for (kw_capability level = found; level < KW_CAPABILITY_COUNT; level++) {
    if (is_there(level, compiled, features)) found = level;
  }
  return found;
}

kw_capability kw_capability_choose(uint32_t compiled, uint32_t features, const char *wanted, const char **out_why) {
  const kw_capability otherwise = best(compiled, features);
  *out_why =
      otherwise > KW_CAPABILITY_REFERENCE
          ? NULL
          : "cpu computes with its reference kernels, which are slow: this is another processor than the one that "
            "it was built for alone (KEYWAY_NATIVE=ON). Built with -DKEYWAY_NATIVE=OFF it suits all";
  if (!wanted || wanted[0] == '\0') return otherwise;
  for (kw_capability level = 0; level < KW_CAPABILITY_COUNT; level++) {
    if (strcmp(wanted, levels[level].name) != 0) continue;
    if (level == KW_CAPABILITY_REFERENCE || is_there(level, compiled, features)) {
      *out_why = NULL;
      return level;
    }
    *out_why = levels[level].needs & ~features
                   ? levels[level].lacks
                   : "KEYWAY_CPU_CAPABILITY is ignored: cpu was built without this instruction set (KEYWAY_NATIVE)";
    return otherwise;
  }
  *out_why = "KEYWAY_CPU_CAPABILITY is ignored: reference, baseline, avx2, avx512 or avx512_fp16 is expected";
  return otherwise;
}
