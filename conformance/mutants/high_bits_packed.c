/* SPDX-License-Identifier: Apache-2.0
 *
 * int4_pack does not cut its elements to four bits: higher bits get into the next nibble.
 */
#include "mutant.h"

static kw_status launch(const kw_call *call) {
  kw_status status = kw_mutant_run_real(call);
  const kw_tensor_ref *in = call->args[0].u.tensor, *out = call->outs[0];
  for (int64_t i = 0; status == KW_OK && i < out->numel; i++) {
    *(unsigned char *)kw_mutant_at(out, i) |= *(unsigned char *)kw_mutant_at(in, 2 * i);
  }
  return status;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "keyway::int4_pack";
  mutant->launch = launch;
}
