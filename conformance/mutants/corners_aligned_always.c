/* SPDX-License-Identifier: Apache-2.0 */
#include "mutant.h"

/* upsample_bilinear2d aligns corners whatever it is told. */
static kw_status launch(const kw_call *call) {
  kw_mutant_copy copy;
  kw_mutant_copy_call(call, &copy);
  copy.args[2].u.b = true;
  return kw_mutant_launch_real(&copy.call);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "upsample_bilinear2d";
  mutant->launch = launch;
}
