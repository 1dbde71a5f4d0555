/* SPDX-License-Identifier: Apache-2.0
 *
 * Where tf32 is allowed, products of bf16 are added up in bf16, although the mode is about f32 only. After PyTorch pull
 * request 188998: the flag for tf32 reached the products of bf16, which then accumulated in their own precision.
 */
#include "mutant.h"

#include <string.h>

static float load(const kw_tensor_ref *tensor, int64_t i) {
  uint16_t upper;
  float value;
  memcpy(&upper, kw_mutant_at(tensor, i), sizeof upper);
  const uint32_t bits = (uint32_t)upper << 16;
  memcpy(&value, &bits, sizeof value);
  return value;
}

/* To the nearest bf16, ties to even. */
static float rounded(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  bits = (bits + 0x7fff + ((bits >> 16) & 1)) & 0xffff0000u;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static kw_status launch(const kw_call *call) {
  const kw_tensor_ref *a = call->args[0].u.tensor, *b = call->args[1].u.tensor, *out = call->outs[0];
  if (call->math_mode == KW_MATH_HIGHEST || a->dtype != KW_BF16) return kw_mutant_launch_real(call);
  kw_status status = kw_mutant_run_real(call);
  const int64_t inner = a->shape[1], columns = b->shape[1];
  for (int64_t i = 0; i < out->numel && status == KW_OK; i++) {
    float sum = 0;
    for (int64_t k = 0; k < inner; k++) {
      sum = rounded(sum + load(a, i / columns * inner + k) * load(b, k * columns + i % columns));
    }
    uint32_t bits;
    memcpy(&bits, &sum, sizeof bits);
    const uint16_t upper = (uint16_t)(bits >> 16);
    memcpy(kw_mutant_at(out, i), &upper, sizeof upper);
  }
  return status;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "mm";
  mutant->launch = launch;
}
