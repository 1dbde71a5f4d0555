/* SPDX-License-Identifier: Apache-2.0 */
#include "mutant.h"

/* tril always keeps what is on the main diagonal and below it. */
static kw_status launch(const kw_call *call) {
  kw_mutant_copy copy;
  kw_mutant_copy_call(call, &copy);
  copy.args[1].u.i = 0;
  return kw_mutant_launch_real(&copy.call);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "tril";
  mutant->launch = launch;
}
