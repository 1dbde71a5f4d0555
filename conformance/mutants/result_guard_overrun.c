/* SPDX-License-Identifier: Apache-2.0
 *
 * native_layer_norm writes one byte in front of its third result.
 */
#include "mutant.h"

static kw_status launch(const kw_call *call) {
  kw_status status = kw_mutant_run_real(call);
  if (status == KW_OK && call->outs[2]->offset > 0) ((unsigned char *)kw_mutant_at(call->outs[2], 0))[-1] ^= 0xff;
  return status;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "native_layer_norm";
  mutant->launch = launch;
}
