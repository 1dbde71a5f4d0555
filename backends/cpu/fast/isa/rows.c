/* SPDX-License-Identifier: Apache-2.0
 *
 * What softmax and norms do with the lanes of a row.
 */
#include "level.h"
#include "vector_math.h"

#define EACH "rows_float.inc"
#include "each_float.inc"

void KW_ISA_NAME(kw_add_rows)(kw_isa *isa) {
  isa->rows[KW_LANE_F32] = rows_f32;
  isa->rows[KW_LANE_F64] = rows_f64;
}
