/* SPDX-License-Identifier: Apache-2.0
 *
 * _fused_adam_ takes the state steps for those before this one: its bias corrections are one step ahead.
 */
#include "mutant.h"

static kw_status launch(const kw_call *call) {
  const kw_value *steps = &call->args[5];
  kw_status status =
      kw_mutant_real.stream.synchronize(call->device, call->stream, KW_WAIT_FOREVER); /* what is changed is there */
  for (uint32_t k = 0; k < steps->count; k++) *(float *)kw_mutant_at(steps->u.tensors[k], 0) += 1;
  if (status == KW_OK) status = kw_mutant_run_real(call);
  for (uint32_t k = 0; k < steps->count; k++) *(float *)kw_mutant_at(steps->u.tensors[k], 0) -= 1;
  return status;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "_fused_adam_";
  mutant->launch = launch;
}
