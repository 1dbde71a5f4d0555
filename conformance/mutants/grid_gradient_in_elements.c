/* SPDX-License-Identifier: Apache-2.0
 *
 * grid_sampler_2d_backward gives the gradient by the position in elements, not by the grid's number.
 */
#include "mutant.h"

static kw_status launch(const kw_call *call) {
  kw_status status = kw_mutant_run_real(call);
  const kw_tensor_ref *input = call->args[1].u.tensor, *out = call->outs[1];
  if (status != KW_OK || !out || out->dtype != KW_F32) return status;
  for (int64_t i = 0; i < out->numel; i++) {
    int64_t size = input->shape[i % 2 ? 2 : 3] - call->args[5].u.b;
    if (size > 0) *(float *)kw_mutant_at(out, i) *= 2 / (float)size;
  }
  return status;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "grid_sampler_2d_backward";
  mutant->launch = launch;
}
