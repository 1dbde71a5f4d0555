/* SPDX-License-Identifier: Apache-2.0
 *
 * Folds: many lanes made one total, along a row, or by columns of several rows at once.
 *
 * No lane passes through more than some dozen additions before a total, which is wider than the lanes, takes the sum:
 * that keeps sums within growth(n) of the op table for every n (see reduce.inc). The order of additions follows from n
 * alone.
 */
#include "level.h"

#include <math.h>
#include <string.h>

/* One register, so that functions of vectors are within the calling convention. */
#if defined(__AVX512F__)
#define VECTOR_BYTES 64
#elif defined(__AVX2__)
#define VECTOR_BYTES 32
#else
#define VECTOR_BYTES 16
#endif
#define BLOCK 4096 /* lanes that are added up before the total takes the sum */

#define T float
#define I int32_t
#define TOTAL(t) (t)->f64
#define LANES(name) name##_f32
#include "fold_float.inc"
#undef T
#undef I
#undef TOTAL
#undef LANES

#define T double
#define I int64_t
#define TOTAL(t) (t)->widest
#define LANES(name) name##_f64
#include "fold_float.inc"
#undef T
#undef I
#undef TOTAL
#undef LANES

#define T int32_t
#define U uint32_t
#define LANES(name) name##_i32
#include "fold_int.inc"
#undef T
#undef U
#undef LANES

#define T int64_t
#define U uint64_t
#define LANES(name) name##_i64
#include "fold_int.inc"
#undef T
#undef U
#undef LANES

void KW_ISA_NAME(kw_add_folds)(kw_isa *isa) {
  add_folds_f32(isa);
  add_folds_f64(isa);
  add_folds_i32(isa);
  add_folds_i64(isa);
}
