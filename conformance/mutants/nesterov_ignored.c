/* SPDX-License-Identifier: Apache-2.0 */
#include "mutant.h"

/* _fused_sgd_ knows no nesterov. */
static kw_status launch(const kw_call *call) {
  kw_mutant_copy copy;
  kw_mutant_copy_call(call, &copy);
  copy.args[7].u.b = false;
  return kw_mutant_launch_real(&copy.call);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "_fused_sgd_";
  mutant->launch = launch;
}
