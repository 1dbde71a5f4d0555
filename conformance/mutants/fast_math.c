/* SPDX-License-Identifier: Apache-2.0
 *
 * Loading the library turns on flush-to-zero, as linking with -ffast-math does.
 */
#include "mutant.h"

#ifdef __x86_64__
#include <xmmintrin.h>

__attribute__((constructor)) static void flush_to_zero(void) {
  _mm_setcsr(_mm_getcsr() | 0x8040); /* FTZ and DAZ */
}
#endif

void kw_mutant_change(kw_mutant *mutant) {
  (void)mutant;
}
