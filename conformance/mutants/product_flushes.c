/* SPDX-License-Identifier: Apache-2.0
 *
 * mm of f32 takes subnormal elements for 0, as with the processor's mode for that on, and the device does not say so.
 */
#include "mutant.h"

#include <math.h>

static float flushed(const kw_tensor_ref *tensor, int64_t row, int64_t column) {
  const float value = *(const float *)kw_mutant_at(tensor, row * tensor->shape[1] + column);
  return fabsf(value) < 0x1p-126f ? 0 : value;
}

static kw_status launch(const kw_call *call) {
  const kw_tensor_ref *a = call->args[0].u.tensor, *b = call->args[1].u.tensor, *out = call->outs[0];
  kw_status status = kw_mutant_run_real(call);
  if (status != KW_OK || out->dtype != KW_F32 || a->dtype != KW_F32 || b->dtype != KW_F32) return status;
  for (int64_t i = 0; i < out->numel; i++) {
    float *result = (float *)kw_mutant_at(out, i), sum = 0;
    const int64_t row = i / out->shape[1], column = i % out->shape[1];
    if (!(fabsf(*result) < 0x1p-110f)) continue;
    for (int64_t k = 0; k < a->shape[1]; k++) sum += flushed(a, row, k) * flushed(b, k, column);
    *result = sum;
  }
  return status;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "mm";
  mutant->launch = launch;
}
