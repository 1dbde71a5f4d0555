/* SPDX-License-Identifier: Apache-2.0
 *
 * sum of more than 2^31 - 1 elements, through an expanded view for instance, is not launched, and its result is what
 * the memory held. After qkan pull request 22: the number of elements was cut to an int, the launch skipped, and
 * uninitialised memory returned.
 */
#include "mutant.h"

static kw_status launch(const kw_call *call) {
  return kw_mutant_run_to(call, call->args[0].u.tensor->numel > INT32_MAX ? 0 : INT64_MAX);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "sum";
  mutant->launch = launch;
}
