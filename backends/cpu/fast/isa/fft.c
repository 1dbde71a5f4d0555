/* SPDX-License-Identifier: Apache-2.0
 *
 * Discrete Fourier transforms of as many lines at once as a vector has lanes, and of one. The build allows this file to
 * fuse products and sums.
 */
#include "level.h"

#define T float
#define OF(name) name##_f32
#define LINES (KW_VECTOR_BYTES / sizeof(T))
typedef T vector_f32 __attribute__((vector_size(KW_VECTOR_BYTES)));
#include "fft.inc"
#undef OF
#undef LINES

#define OF(name) name##_f32_alone
#define LINES 1
typedef T vector_f32_alone;
#include "fft.inc"
#undef T
#undef OF
#undef LINES

#define T double
#define OF(name) name##_f64
#define LINES (KW_VECTOR_BYTES / sizeof(T))
typedef T vector_f64 __attribute__((vector_size(KW_VECTOR_BYTES)));
#include "fft.inc"
#undef OF
#undef LINES

#define OF(name) name##_f64_alone
#define LINES 1
typedef T vector_f64_alone;
#include "fft.inc"

void KW_ISA_NAME(kw_add_transforms)(kw_isa *isa) {
  isa->transforms[KW_LANE_F32] = transforms_f32;
  isa->transforms[KW_LANE_F64] = transforms_f64;
  isa->lone_transforms[KW_LANE_F32] = transforms_f32_alone;
  isa->lone_transforms[KW_LANE_F64] = transforms_f64_alone;
}
