/* SPDX-License-Identifier: Apache-2.0 */
#include "mutant.h"

/* mul.Tensor leaves another value in the first element of its first input. */
static kw_status launch(const kw_call *call) {
  const kw_tensor_ref *input = call->args[0].u.tensor;
  unsigned char byte = 0;
  kw_status status = kw_mutant_launch_real(call);
  if (status == KW_OK) status = kw_mutant_fetch(call, input, 0, 1, &byte);
  byte ^= 1;
  return status == KW_OK ? kw_mutant_store(call, input, 0, 1, &byte) : status;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "mul.Tensor";
  mutant->launch = launch;
}
