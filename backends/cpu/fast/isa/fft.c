/* SPDX-License-Identifier: Apache-2.0
 *
 * Discrete Fourier transforms of as many lines at once as a vector has lanes. The build allows this file to fuse
 * products and sums.
 */
#include "level.h"

#define EACH "fft_float.inc"
#include "each_float.inc"

void KW_ISA_NAME(kw_add_transforms)(kw_isa *isa) {
  isa->transforms[KW_LANE_F32] = transforms_f32;
  isa->transforms[KW_LANE_F64] = transforms_f64;
}
