/* SPDX-License-Identifier: Apache-2.0
 *
 * Loading the library turns on flush-to-zero, as linking with -ffast-math does.
 */
#include "mutant.h"

#include <fenv.h>

__attribute__((constructor)) static void flush_to_zero(void) {
  fenv_t flushing;
  fegetenv(&flushing);
#if defined(__x86_64__)
  flushing.__mxcsr |= 0x8040; /* FTZ and DAZ */
#elif defined(__aarch64__)
  flushing.__fpcr |= 1u << 24; /* FZ */
#endif
  fesetenv(&flushing);
}

void kw_mutant_change(kw_mutant *mutant) {
  (void)mutant;
}
