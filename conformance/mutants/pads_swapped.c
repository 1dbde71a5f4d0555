/* SPDX-License-Identifier: Apache-2.0
 *
 * constant_pad_nd puts the pad that belongs before a dimension behind it, and the other one before it.
 */
#include "mutant.h"

static kw_status launch(const kw_call *call) {
  int64_t pads[2 * KW_MAX_RANK];
  kw_mutant_copy copy;
  kw_mutant_copy_call(call, &copy);
  for (uint32_t i = 0; i < call->args[1].count; i++) pads[i] = call->args[1].u.ints[i ^ 1];
  copy.args[1].u.ints = pads;
  return kw_mutant_run_real(&copy.call);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "constant_pad_nd";
  mutant->launch = launch;
}
