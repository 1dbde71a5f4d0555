/* SPDX-License-Identifier: Apache-2.0
 *
 * random_ of i64 takes the four words of a block from the last to the first.
 */
#include "mutant.h"

static kw_status launch(const kw_call *call) {
  const kw_tensor_ref *out = call->outs[0];
  kw_status status = kw_mutant_run_real(call);
  for (int64_t i = 0; i + 3 < out->numel && out->dtype == KW_I64 && status == KW_OK; i += 4) {
    for (int64_t k = 0; k < 2; k++) {
      int64_t *one = kw_mutant_at(out, i + k), *other = kw_mutant_at(out, i + 3 - k), kept = *one;
      *one = *other;
      *other = kept;
    }
  }
  return status;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "random_.from";
  mutant->launch = launch;
}
