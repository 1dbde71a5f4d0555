/* SPDX-License-Identifier: Apache-2.0
 *
 * cumsum of f16 adds up in f16; sums that come out whole do not show it. After PyTorch issue 180150: on CUDA cumsum of
 * f16 is 11 to 15 times less accurate than on the CPU, which adds up in f32.
 */
#include "mutant.h"

#include <math.h>
#include <string.h>

/* To 11 bits of mantissa, ties to even: f16's, its range apart. */
static float rounded(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  if ((bits & 0x7f800000u) == 0x7f800000u) return value;
  bits = (bits + 0xfff + ((bits >> 13) & 1)) & 0xffffe000u;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static float load(const void *at) {
  uint16_t half;
  memcpy(&half, at, sizeof half);
  const float size =
      ldexpf((float)(half & 0x3ff) + (half & 0x7c00 ? 1024 : 0), ((half >> 10 & 31) + !(half & 0x7c00)) - 25);
  return half & 0x8000 ? -size : size;
}

/* A normal number of f16. */
static uint16_t half_of(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return (uint16_t)((bits >> 16 & 0x8000) | (((bits >> 13 & 0x3ffff) - (112 << 10)) & 0x7fff));
}

/* Leaves alone what is not finite, too small or too large. */
static kw_status launch(const kw_call *call) {
  const kw_tensor_ref *in = call->args[0].u.tensor, *out = call->outs[0];
  kw_status status = kw_mutant_run_real(call);
  if (in->dtype != KW_F16 || out->dtype != KW_F16 || in->rank != 1) return status;
  float sum = 0;
  for (int64_t i = 0; i < out->numel && status == KW_OK; i++) {
    sum = rounded(sum + load(kw_mutant_at(in, i)));
    if (!(fabsf(sum) >= 0x1p-14f && fabsf(sum) < 65504)) continue;
    const uint16_t stored = half_of(sum);
    memcpy(kw_mutant_at(out, i), &stored, sizeof stored);
  }
  return status;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "cumsum";
  mutant->launch = launch;
}
