/* SPDX-License-Identifier: Apache-2.0
 *
 * Scores of attention become weights, for tiles in which a lane is a query. The build allows this file to fuse products
 * and sums.
 */
#include "level.h"

#include <math.h>
#include <string.h>

/* exp(x) = 2^n exp(r), where n is the whole number next to x / log(2), and r = x - n log(2), with log(2) in two parts.
 * exp(r) is the polynomial through the Chebyshev nodes of [-log(2)/2, log(2)/2], from the highest power on: relatively
 * off by 3e-9 in f32, by 5e-18 in f64. Adding ROUNDER leaves n + bias in the lowest bits of a significand. Below LEAST,
 * whose exponential is near the smallest normal number, it is 0. */
#define POWERS_f32 \
  1.39411189e-03f, 8.37513477e-03f, 4.16663528e-02f, 1.66664154e-01f, 5.00000005e-01f, 1.00000004f, 1.0f
#define POWERS_f64                                                                                   \
  2.5110049204818662e-08, 2.763265472252779e-07, 2.7557240887229869e-06, 2.4801485441561313e-05,     \
      1.9841269890076403e-04, 1.3888888952352863e-03, 8.333333333319589e-03, 4.1666666666487953e-02, \
      1.666666666666668e-01, 5.0000000000000189e-01, 1.0, 1.0
#define ROUNDER_f32 (0x1.8p23f + 127)
#define ROUNDER_f64 (0x1.8p52 + 1023)
#define FRACTION_f32 23
#define FRACTION_f64 52
#define LEAST_f32 -87.0f
#define LEAST_f64 -708.0
#define LOG2E_f32 1.44269504f
#define LOG2E_f64 1.4426950408889634
#define LN2_HIGH_f32 0x1.62e4p-1f /* few bits, so that the product with n is exact */
#define LN2_LOW_f32 1.42860677e-06f
#define LN2_HIGH_f64 0x1.62e42fefap-1
#define LN2_LOW_f64 1.6465949582897082e-12

#define EACH "attention.inc"
#include "each_float.inc"

void KW_ISA_NAME(kw_add_attention)(kw_isa *isa) {
  isa->attention[KW_LANE_F32] = (kw_attention_lanes){hide_f32, weigh_f32, fade_f32, dot_f32, add_f32};
  isa->attention[KW_LANE_F64] = (kw_attention_lanes){hide_f64, weigh_f64, fade_f64, dot_f64, add_f64};
}
