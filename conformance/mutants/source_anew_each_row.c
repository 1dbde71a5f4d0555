/* SPDX-License-Identifier: Apache-2.0
 *
 * masked_scatter of f32 counts the places of each row on its own: every row takes the source from its start.
 */
#include "mutant.h"

static kw_status launch(const kw_call *call) {
  const kw_tensor_ref *out = call->outs[0], *mask = call->args[1].u.tensor, *source = call->args[2].u.tensor;
  kw_status status = kw_mutant_run_real(call);
  if (status != KW_OK || out->dtype != KW_F32 || out->rank != 2 || mask->numel != out->numel) return status;
  for (int64_t i = 0, taken = 0; i < out->numel; i++) {
    if (i % out->shape[1] == 0) taken = 0;
    if (*(uint8_t *)kw_mutant_at(mask, i)) *(float *)kw_mutant_at(out, i) = *(float *)kw_mutant_at(source, taken++);
  }
  return KW_OK;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "masked_scatter";
  mutant->launch = launch;
}
