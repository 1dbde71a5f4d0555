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

#define BLOCK 4096 /* lanes that are added up before the total takes the sum */

/* A total's number. */
#define TOTAL_f32(t) (t)->f64
#define TOTAL_f64(t) (t)->widest

#define EACH "fold_float.inc"
#include "each_float.inc"
#define EACH "fold_int.inc"
#include "each_int.inc"

void KW_ISA_NAME(kw_add_folds)(kw_isa *isa) {
  add_folds_f32(isa);
  add_folds_f64(isa);
  add_folds_i32(isa);
  add_folds_i64(isa);
}
