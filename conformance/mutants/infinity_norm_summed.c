/* SPDX-License-Identifier: Apache-2.0 */
#include "mutant.h"

#include <math.h>

/* _pdist_forward takes a very large p for infinity, whose powers leave the range. */
static kw_status launch(const kw_call *call) {
  kw_mutant_copy copy;
  kw_mutant_copy_call(call, &copy);
  if (isinf(call->args[1].u.f)) copy.args[1].u.f = 64;
  return kw_mutant_launch_real(&copy.call);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "_pdist_forward";
  mutant->launch = launch;
}
