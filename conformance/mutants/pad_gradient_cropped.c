/* SPDX-License-Identifier: Apache-2.0
 *
 * replication_pad1d_backward of f32 cuts the pads off, so that their gradients are lost.
 */
#include "mutant.h"

static kw_status launch(const kw_call *call) {
  const kw_tensor_ref *grad = call->args[0].u.tensor, *out = call->outs[0];
  const int64_t size = out->shape[out->rank - 1], padded = grad->shape[grad->rank - 1];
  kw_status status = kw_mutant_run_real(call);
  for (int64_t i = 0; i < out->numel && status == KW_OK && out->dtype == KW_F32; i++) {
    const int64_t at = i % size + call->args[2].u.ints[0];
    const bool kept = at >= 0 && at < padded;
    *(float *)kw_mutant_at(out, i) = kept ? *(float *)kw_mutant_at(grad, i / size * padded + at) : 0;
  }
  return status;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "replication_pad1d_backward";
  mutant->launch = launch;
}
