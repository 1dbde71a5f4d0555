/* SPDX-License-Identifier: Apache-2.0
 *
 * roll along one dimension turns the other way.
 */
#include "mutant.h"

static kw_status launch(const kw_call *call) {
  kw_mutant_copy copy;
  kw_mutant_copy_call(call, &copy);
  const int64_t back = (int64_t)(0 - (uint64_t)call->args[1].u.ints[0]);
  if (call->args[1].count == 1) copy.args[1].u.ints = &back;
  return kw_mutant_run_real(&copy.call);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "roll";
  mutant->launch = launch;
}
