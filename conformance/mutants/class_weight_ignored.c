/* SPDX-License-Identifier: Apache-2.0 */
#include "mutant.h"

/* nll_loss_forward counts all classes alike. */
static kw_status launch(const kw_call *call) {
  kw_mutant_copy copy;
  kw_mutant_copy_call(call, &copy);
  copy.args[2] = (kw_value){.tag = KW_TAG_NONE};
  return kw_mutant_launch_real(&copy.call);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "nll_loss_forward";
  mutant->launch = launch;
}
