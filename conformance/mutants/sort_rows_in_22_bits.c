/* SPDX-License-Identifier: Apache-2.0
 *
 * sort.stable numbers the rows that it sorts in 22 bits: those behind are copied as they are. After pytorch issue
 * 183885.
 */
#include "mutant.h"

#include <string.h>

static kw_status launch(const kw_call *call) {
  const int64_t most = INT64_C(1) << 22;
  const kw_tensor_ref *in = call->args[0].u.tensor, *out = call->outs[0];
  const kw_status status = kw_mutant_run_real(call);
  const int64_t length = in->rank > 0 ? in->shape[in->rank - 1] : 1;
  for (int64_t i = most * length; status == KW_OK && i < in->numel; i++) {
    memcpy(kw_mutant_at(out, i), kw_mutant_at(in, i), kw_mutant_item_size(in->dtype));
  }
  return status;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "sort.stable";
  mutant->launch = launch;
}
