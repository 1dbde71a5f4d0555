/* SPDX-License-Identifier: Apache-2.0 */
#include "mutant.h"

/* sum stops one short: the last of each row is not added. */
static kw_status launch(const kw_call *call) {
  kw_mutant_copy copy;
  kw_mutant_copy_call(call, &copy);
  kw_mutant_shrink(&copy.arg_tensors[0]);
  return kw_mutant_launch_real(&copy.call);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "sum";
  mutant->launch = launch;
}
