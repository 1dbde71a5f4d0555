/* SPDX-License-Identifier: Apache-2.0 */
#include "mutant.h"

/* grid_sampler_2d repeats the border where it should reflect. */
static kw_status launch(const kw_call *call) {
  kw_mutant_copy copy;
  kw_mutant_copy_call(call, &copy);
  if (copy.args[3].u.i == 2) copy.args[3].u.i = 1;
  return kw_mutant_launch_real(&copy.call);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "grid_sampler_2d";
  mutant->launch = launch;
}
