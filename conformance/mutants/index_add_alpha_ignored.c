/* SPDX-License-Identifier: Apache-2.0 */
#include "mutant.h"

/* index_add of floats adds the source as it is. */
static kw_status launch(const kw_call *call) {
  kw_mutant_copy copy;
  kw_mutant_copy_call(call, &copy);
  if (call->args[4].kind == KW_SCALAR_F64) copy.args[4].u.f = 1;
  return kw_mutant_launch_real(&copy.call);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "index_add";
  mutant->launch = launch;
}
