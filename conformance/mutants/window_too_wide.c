/* SPDX-License-Identifier: Apache-2.0 */
#include "mutant.h"

/* keyway::attention shows a query one key more to the left than the window has. */
static kw_status launch(const kw_call *call) {
  kw_mutant_copy copy;
  kw_mutant_copy_call(call, &copy);
  if (copy.args[6].u.i >= 0 && copy.args[6].u.i < INT64_MAX) copy.args[6].u.i++;
  return kw_mutant_launch_real(&copy.call);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "keyway::attention";
  mutant->launch = launch;
}
