/* SPDX-License-Identifier: Apache-2.0
 *
 * sum of f32 takes subnormal elements for 0, as with the processor's mode for that on, and the device does not say so.
 */
#include "mutant.h"

#include <math.h>

static kw_status launch(const kw_call *call) {
  const kw_tensor_ref *in = call->args[0].u.tensor, *out = call->outs[0];
  kw_status status = kw_mutant_run_real(call);
  if (status != KW_OK || out->dtype != KW_F32 || in->dtype != KW_F32) return status;
  for (int64_t i = 0; i < in->numel; i++) {
    const float value = *(const float *)kw_mutant_at(in, i);
    if (fabsf(value) >= 0x1p-126f || isnan(value)) return status;
  }
  *(float *)kw_mutant_at(out, 0) = 0;
  return status;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "sum";
  mutant->launch = launch;
}
