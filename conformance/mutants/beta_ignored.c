/* SPDX-License-Identifier: Apache-2.0 */
#include "mutant.h"

/* addmm ignores beta. */
static kw_status launch(const kw_call *call) {
  kw_mutant_copy copy;
  kw_mutant_copy_call(call, &copy);
  copy.args[3] = (kw_value){.tag = KW_TAG_SCALAR, .kind = KW_SCALAR_I64, .u.i = 1};
  return kw_mutant_launch_real(&copy.call);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "addmm";
  mutant->launch = launch;
}
