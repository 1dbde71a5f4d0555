/* SPDX-License-Identifier: Apache-2.0
 *
 * _native_batch_norm_legit of f32 moves the biased, not the unbiased, variance into the running statistics of f32.
 */
#include "mutant.h"

static kw_status launch(const kw_call *call) {
  const kw_tensor_ref *in = call->args[0].u.tensor, *variance = call->args[4].u.tensor;
  const bool mine = in->dtype == KW_F32 && variance->dtype == KW_F32 && call->args[5].u.b && in->numel > in->shape[1];
  enum { MOST = 64 };
  float old[MOST];
  if (!mine || variance->numel > MOST) return kw_mutant_launch_real(call);
  kw_status status =
      kw_mutant_real.stream.synchronize(call->device, call->stream, KW_WAIT_FOREVER); /* what is looked at is there */
  for (int64_t c = 0; c < variance->numel; c++) old[c] = *(float *)kw_mutant_at(variance, c);
  if (status == KW_OK) status = kw_mutant_run_real(call);
  const float count = (float)(in->numel / in->shape[1]), kept = 1 - (float)call->args[6].u.f;
  for (int64_t c = 0; c < variance->numel && status == KW_OK; c++) {
    float *now = kw_mutant_at(variance, c);
    *now = kept * old[c] + (*now - kept * old[c]) * ((count - 1) / count);
  }
  return status;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "_native_batch_norm_legit";
  mutant->launch = launch;
}
