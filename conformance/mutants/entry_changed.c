/* SPDX-License-Identifier: Apache-2.0
 *
 * cat changes the first element of the last tensor in its list.
 */
#include "mutant.h"

static kw_status launch(const kw_call *call) {
  kw_status status = kw_mutant_run_real(call);
  const kw_tensor_ref *last = call->args[0].u.tensors[call->args[0].count - 1];
  if (status == KW_OK && last->numel > 0) *(unsigned char *)kw_mutant_at(last, 0) ^= 1;
  return status;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "cat";
  mutant->launch = launch;
}
