/* SPDX-License-Identifier: Apache-2.0
 *
 * logsumexp over the last dimension of f32 does not subtract the maximum.
 */
#include "mutant.h"

#include <math.h>

static kw_status launch(const kw_call *call) {
  const kw_tensor_ref *in = call->args[0].u.tensor, *out = call->outs[0];
  const kw_value *dim = &call->args[1];
  kw_status status = kw_mutant_run_real(call);
  bool last = in->rank == 2 && dim->count == 1 && dim->u.ints[0] == 1;
  if (status != KW_OK || in->dtype != KW_F32 || !last) return status;
  for (int64_t row = 0; row < out->numel; row++) {
    float sum = 0;
    for (int64_t i = 0; i < in->shape[1]; i++) sum += expf(*(float *)kw_mutant_at(in, row * in->shape[1] + i));
    *(float *)kw_mutant_at(out, row) = logf(sum);
  }
  return KW_OK;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "logsumexp";
  mutant->launch = launch;
}
