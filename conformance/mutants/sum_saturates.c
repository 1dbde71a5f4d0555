/* SPDX-License-Identifier: Apache-2.0
 *
 * sum adds up f32 one by one in an f32, whatever their number: ones add up to 2^24 and no further. After ArrayFire pull
 * request 3731: a thousand million ones summed to 16,777,216.
 */
#include "mutant.h"

static kw_status launch(const kw_call *call) {
  const kw_tensor_ref *in = call->args[0].u.tensor;
  if (in->dtype != KW_F32 || call->outs[0]->dtype != KW_F32 || in->numel <= 1 << 20) {
    return kw_mutant_launch_real(call);
  }
  kw_status status = kw_mutant_run_real(call);
  float sum = 0;
  for (int64_t i = 0; i < in->numel && status == KW_OK; i++) sum += *(const float *)kw_mutant_at(in, i);
  if (status == KW_OK) *(float *)kw_mutant_at(call->outs[0], 0) = sum;
  return status;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "sum";
  mutant->launch = launch;
}
