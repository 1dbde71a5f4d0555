/* SPDX-License-Identifier: Apache-2.0
 *
 * box_iou of f32 divides by a union that is 0.
 */
#include "mutant.h"

#include <math.h>

static float area(const kw_tensor_ref *boxes, int64_t row) {
  float corner[4];
  for (int64_t k = 0; k < 4; k++) corner[k] = *(float *)kw_mutant_at(boxes, 4 * row + k);
  return fmaxf(corner[2] - corner[0], 0) * fmaxf(corner[3] - corner[1], 0);
}

static kw_status launch(const kw_call *call) {
  const kw_tensor_ref *a = call->args[0].u.tensor, *b = call->args[1].u.tensor, *out = call->outs[0];
  kw_status status = kw_mutant_run_real(call);
  for (int64_t i = 0; i < out->numel && status == KW_OK && out->dtype == KW_F32; i++) {
    if (area(a, i / out->shape[1]) + area(b, i % out->shape[1]) == 0) *(float *)kw_mutant_at(out, i) = NAN;
  }
  return status;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "keyway::box_iou";
  mutant->launch = launch;
}
