/* SPDX-License-Identifier: Apache-2.0
 *
 * Steps of optimisers over lanes, computed as the reference does, in the same order.
 */
#include "level.h"

#include <math.h>

#define EACH "step_float.inc"
#include "each_float.inc"

void KW_ISA_NAME(kw_add_steps)(kw_isa *isa) {
  isa->sgd[KW_LANE_F32] = sgd_f32;
  isa->sgd[KW_LANE_F64] = sgd_f64;
  isa->adam[KW_LANE_F32] = adam_f32;
  isa->adam[KW_LANE_F64] = adam_f64;
}
