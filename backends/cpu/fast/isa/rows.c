/* SPDX-License-Identifier: Apache-2.0
 *
 * What softmax and norms do with the lanes of a row.
 */
#include "level.h"
#include "vector_math.h"

#define T float
#define LANES(name) name##_f32
#define MATH(name) name##f
#include "rows_float.inc"
#undef T
#undef LANES
#undef MATH

#define T double
#define LANES(name) name##_f64
#define MATH(name) name
#include "rows_float.inc"
#undef T
#undef LANES
#undef MATH

void KW_ISA_NAME(kw_add_rows)(kw_isa *isa) {
  isa->rows[KW_LANE_F32] = rows_f32;
  isa->rows[KW_LANE_F64] = rows_f64;
}
