/* SPDX-License-Identifier: Apache-2.0
 *
 * keyway::clip_grad_norm_ clips each tensor by a norm of its own.
 */
#include "mutant.h"

static kw_status launch(const kw_call *call) {
  kw_mutant_copy copy;
  kw_mutant_copy_call(call, &copy);
  const kw_value list = call->args[0];
  kw_status status = list.count == 0 ? kw_mutant_launch_real(call) : KW_OK;
  for (uint32_t k = 0; k < list.count && status == KW_OK; k++) {
    copy.args[0].count = 1;
    copy.args[0].u.tensors = &list.u.tensors[k];
    status = kw_mutant_run_real(&copy.call);
  }
  return status;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "keyway::clip_grad_norm_";
  mutant->launch = launch;
}
