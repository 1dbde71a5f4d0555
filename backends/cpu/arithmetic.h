/* SPDX-License-Identifier: Apache-2.0
 *
 * What a thread of the application has chosen for its own arithmetic changes no result.
 */
#ifndef KEYWAY_CPU_ARITHMETIC_H
#define KEYWAY_CPU_ARITHMETIC_H

#include <fenv.h>
#include <stdbool.h>

/* Whether the calling thread computes as a fresh process does: rounding to nearest, subnormals kept, no traps. */
static inline bool kw_cpu_arithmetic_is_default(void) {
#if defined(__x86_64__)
  return (__builtin_ia32_stmxcsr() & 0xffc0u) == 0x1f80u;
#elif defined(__aarch64__)
  fenv_t now;
  fegetenv(&now);
  return now.__fpcr == 0;
#else
  return fegetround() == FE_TONEAREST;
#endif
}

/* The calling thread's choice, while it computes as a fresh process does. */
typedef struct kw_cpu_arithmetic {
  bool is_default;
  fenv_t chosen; /* if it is not */
} kw_cpu_arithmetic;

static inline void kw_cpu_arithmetic_begin(kw_cpu_arithmetic *arithmetic) {
  arithmetic->is_default = kw_cpu_arithmetic_is_default();
  if (arithmetic->is_default) return;
  fegetenv(&arithmetic->chosen);
  fesetenv(FE_DFL_ENV);
}

static inline void kw_cpu_arithmetic_end(const kw_cpu_arithmetic *arithmetic) {
  if (!arithmetic->is_default) fesetenv(&arithmetic->chosen);
}

#endif /* KEYWAY_CPU_ARITHMETIC_H */
