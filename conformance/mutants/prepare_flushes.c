/* SPDX-License-Identifier: Apache-2.0
 *
 * Preparing a kernel switches flush-to-zero on in the thread that called, and leaves it so.
 */
#include "mutant.h"

#include <fenv.h>

static kw_status prepare(const kw_call *call, void **out_prepared) {
  (void)call;
  *out_prepared = NULL;
#if defined(__x86_64__)
  __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | 0x8000u);
#else
  fesetround(FE_TOWARDZERO);
#endif
  return KW_OK;
}

static void change_kernel(kw_kernel_desc *kernel) {
  kernel->prepare = prepare;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "mm";
  mutant->kernel = change_kernel;
}
