/* SPDX-License-Identifier: Apache-2.0 */
#include "mutant.h"

#include <math.h>

/* maximum of f32 is fmaxf: where one operand is NaN it gives the other one. */
static kw_status fetch(const kw_call *call, const kw_tensor_ref *tensor, int64_t i, float *out_value) {
  return kw_mutant_fetch(call, tensor, kw_mutant_place(tensor, i), sizeof *out_value, out_value);
}

static kw_status launch(const kw_call *call) {
  const kw_tensor_ref *a = call->args[0].u.tensor, *b = call->args[1].u.tensor, *out = call->outs[0];
  kw_status status = kw_mutant_launch_real(call);
  if (a->dtype != KW_F32 || b->dtype != KW_F32) return status;
  for (int64_t i = 0; i < out->numel && status == KW_OK; i++) {
    float x = 0, y = 0;
    status = fetch(call, a, i, &x);
    if (status == KW_OK) status = fetch(call, b, i, &y);
    if (status != KW_OK || isnan(x) == isnan(y)) continue;
    float other = isnan(x) ? y : x;
    status = kw_mutant_store(call, out, kw_mutant_place(out, i), sizeof other, &other);
  }
  return status;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "maximum";
  mutant->launch = launch;
}
