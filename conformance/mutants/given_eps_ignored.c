/* SPDX-License-Identifier: Apache-2.0 */
#include "mutant.h"

/* _native_batch_norm_legit_no_training adds no eps to the running variance. */
static kw_status launch(const kw_call *call) {
  kw_mutant_copy copy;
  kw_mutant_copy_call(call, &copy);
  copy.args[6].u.f = 0;
  return kw_mutant_launch_real(&copy.call);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "_native_batch_norm_legit_no_training";
  mutant->launch = launch;
}
