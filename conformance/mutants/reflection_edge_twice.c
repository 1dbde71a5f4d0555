/* SPDX-License-Identifier: Apache-2.0
 *
 * reflection_pad1d mirrors the first and the last element as well: they stand twice, side by side.
 */
#include "mutant.h"

#include <string.h>

static kw_status launch(const kw_call *call) {
  const kw_tensor_ref *in = call->args[0].u.tensor, *out = call->outs[0];
  const int64_t size = in->shape[in->rank - 1], length = out->shape[out->rank - 1];
  kw_status status = kw_mutant_run_real(call);
  for (int64_t i = 0; i < out->numel && status == KW_OK; i++) {
    int64_t from = i % length - call->args[1].u.ints[0];
    if (from < 0) from = -1 - from;
    if (from >= size) from = 2 * size - 1 - from;
    memcpy(kw_mutant_at(out, i), kw_mutant_at(in, i / length * size + from), kw_mutant_item_size(in->dtype));
  }
  return status;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "reflection_pad1d";
  mutant->launch = launch;
}
