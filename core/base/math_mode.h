/* SPDX-License-Identifier: Apache-2.0
 *
 * How exactly calls compute: the application's setting, and which kernels it lets in.
 */
#ifndef KEYWAY_CORE_MATH_MODE_H
#define KEYWAY_CORE_MATH_MODE_H

#include <keyway/plugin.h>

#include <stdatomic.h>

/* A setting in one word: a kw_math_mode, and beside it whether only deterministic kernels will do. */
typedef uint32_t kw_math;
#define KW_MATH_MODE_MASK 0xffu
#define KW_MATH_DETERMINISTIC 0x100u

/* What calls of this thread go by: the application's setting, or that of the plan that makes them. */
extern __thread const _Atomic kw_math *kw_math_current __attribute__((tls_model("initial-exec")));

static inline kw_math kw_math_now(void) {
  return atomic_load_explicit(kw_math_current, memory_order_relaxed);
}

/* The least mode that lets the kernel in; what it needs, which is no mode, where none does. */
kw_math_mode kw_math_needed(const kw_kernel_desc *kernel);

static inline bool kw_math_allows(kw_math math, const kw_kernel_desc *kernel) {
  if ((math & KW_MATH_DETERMINISTIC) && !(kernel->flags & KW_KERNEL_DETERMINISTIC)) return false;
  return (kernel->math_needs & ~(math & KW_MATH_MODE_MASK)) == 0;
}

/* The failure of a call that this kernel would take if `math` let it in. */
kw_status kw_math_refuse(const char *call, const kw_kernel_desc *kernel, kw_math math);

/* Reads KEYWAY_MATH and KEYWAY_DETERMINISTIC, unless that was done. */
void kw_math_start(void);

#endif /* KEYWAY_CORE_MATH_MODE_H */
