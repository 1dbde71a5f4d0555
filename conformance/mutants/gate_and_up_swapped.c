/* SPDX-License-Identifier: Apache-2.0 */
#include "mutant.h"

/* keyway::swiglu takes one operand for the other. */
static kw_status launch(const kw_call *call) {
  kw_mutant_copy copy;
  kw_mutant_copy_call(call, &copy);
  kw_value gate = copy.args[0];
  copy.args[0] = copy.args[1];
  copy.args[1] = gate;
  return kw_mutant_launch_real(&copy.call);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "keyway::swiglu";
  mutant->launch = launch;
}
