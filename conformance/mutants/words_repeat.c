/* SPDX-License-Identifier: Apache-2.0
 *
 * uniform_ counts the blocks of a tensor in 20 bits: from element 2^22 on its numbers are those of the beginning.
 */
#include "mutant.h"

#include <string.h>

static kw_status launch(const kw_call *call) {
  const kw_tensor_ref *out = call->outs[0];
  kw_status status = kw_mutant_run_real(call);
  for (int64_t i = INT64_C(1) << 22; status == KW_OK && i < out->numel; i++) {
    memcpy(kw_mutant_at(out, i), kw_mutant_at(out, i - (INT64_C(1) << 22)), kw_mutant_item_size(out->dtype));
  }
  return status;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "uniform_";
  mutant->launch = launch;
}
