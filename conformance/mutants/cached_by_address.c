/* SPDX-License-Identifier: Apache-2.0
 *
 * add.Tensor takes a call with the same addresses as the one before for the same call, and leaves its result as it is.
 */
#include "mutant.h"

static kw_status launch(const kw_call *call) {
  static const char *last[2];
  const kw_tensor_ref *in = call->args[0].u.tensor, *out = call->outs[0];
  const char *now[2] = {kw_mutant_at(in, 0), kw_mutant_at(out, 0)};
  if (now[0] == last[0] && now[1] == last[1]) return KW_OK;
  last[0] = now[0];
  last[1] = now[1];
  return kw_mutant_launch_real(call);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "add.Tensor";
  mutant->launch = launch;
}
