/* SPDX-License-Identifier: Apache-2.0
 *
 * max.dim over the last dimension of f32 gives the index of the last of the largest.
 */
#include "mutant.h"

static kw_status launch(const kw_call *call) {
  const kw_tensor_ref *in = call->args[0].u.tensor, *out = call->outs[1];
  kw_status status = kw_mutant_run_real(call);
  if (status != KW_OK || in->dtype != KW_F32 || in->rank != 2 || call->args[1].u.i != 1) return status;
  for (int64_t row = 0; row < out->numel; row++) {
    const int64_t begin = row * in->shape[1];
    int64_t *index = kw_mutant_at(out, row);
    for (int64_t i = *index + 1; i < in->shape[1]; i++) {
      if (*(float *)kw_mutant_at(in, begin + i) == *(float *)kw_mutant_at(in, begin + *index)) *index = i;
    }
  }
  return KW_OK;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "max.dim";
  mutant->launch = launch;
}
