/* SPDX-License-Identifier: Apache-2.0 */
#include "mutant.h"

/* f8_linear reads the weights as the kind of f8 that the input is. */
static kw_status launch(const kw_call *call) {
  kw_mutant_copy copy;
  kw_mutant_copy_call(call, &copy);
  copy.arg_tensors[1].dtype = copy.arg_tensors[0].dtype;
  return kw_mutant_launch_real(&copy.call);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "keyway::f8_linear";
  mutant->launch = launch;
}
