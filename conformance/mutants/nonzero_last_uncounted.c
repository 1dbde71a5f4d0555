/* SPDX-License-Identifier: Apache-2.0
 *
 * nonzero of f32 does not count the last element: its count is how many come before that one.
 */
#include "mutant.h"

static kw_status launch(const kw_call *call) {
  const kw_tensor_ref *self = call->args[0].u.tensor;
  kw_status status = kw_mutant_run_real(call);
  if (status != KW_OK || self->dtype != KW_F32 || self->numel == 0) return status;
  int64_t *count = kw_mutant_at(call->outs[1], 0);
  if (*(float *)kw_mutant_at(self, self->numel - 1) != 0) --*count;
  return KW_OK;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "nonzero";
  mutant->launch = launch;
}
