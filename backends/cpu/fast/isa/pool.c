/* SPDX-License-Identifier: Apache-2.0
 *
 * Sums and maxima of windows along rows of lanes, and weighted sums of lanes anywhere in a plane.
 */
#include "level.h"

#include <string.h>

#define PART 16     /* lanes that are added up before the total takes the sum */
#define TOGETHER 64 /* windows that are looked at lane by lane */

/* What totals are kept in. */
#define WIDER_f32 double
#define WIDER_f64 long double

#define EACH "pool_float.inc"
#include "each_float.inc"

void KW_ISA_NAME(kw_add_pools)(kw_isa *isa) {
  isa->pools[KW_LANE_F32] = pool_f32;
  isa->pools[KW_LANE_F64] = pool_f64;
}
