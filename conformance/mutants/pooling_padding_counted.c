/* SPDX-License-Identifier: Apache-2.0 */
#include "mutant.h"

/* avg_pool2d counts the padding whatever count_include_pad says. */
static kw_status launch(const kw_call *call) {
  kw_mutant_copy copy;
  kw_mutant_copy_call(call, &copy);
  copy.args[5].u.b = true;
  return kw_mutant_launch_real(&copy.call);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "avg_pool2d";
  mutant->launch = launch;
}
