/* SPDX-License-Identifier: Apache-2.0 */
#include "mutant.h"

/* prod of a row takes four elements at a time and leaves out what remains. */
static kw_status launch(const kw_call *call) {
  kw_mutant_copy copy;
  kw_mutant_copy_call(call, &copy);
  kw_tensor_ref *in = &copy.arg_tensors[0];
  if (in->rank == 1) in->shape[0] = in->numel -= in->numel % 4;
  return kw_mutant_launch_real(&copy.call);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "prod";
  mutant->launch = launch;
}
