/* SPDX-License-Identifier: Apache-2.0
 *
 * Searches in lines in ascending order.
 */
#include "level.h"

#include <string.h>

#define AT_ONCE 16 /* values that are searched for side by side */

#define IS_NAN(x) ((x) != (x))
#define EACH "search.inc"
#include "each_float.inc"
#undef IS_NAN

#define IS_NAN(x) false
#define EACH "search.inc"
#include "each_int.inc"

void KW_ISA_NAME(kw_add_search)(kw_isa *isa) {
  isa->search[KW_LANE_F32] = search_f32;
  isa->search[KW_LANE_F64] = search_f64;
  isa->search[KW_LANE_I32] = search_i32;
  isa->search[KW_LANE_I64] = search_i64;
}
