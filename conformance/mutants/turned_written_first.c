/* SPDX-License-Identifier: Apache-2.0
 *
 * relu of a transposed argument copies it as it lies in memory to a result that is laid out alike, and turns the result
 * then; where both are one tensor it turns what it has to read yet.
 */
#include "mutant.h"

#include <string.h>

static kw_status launch(const kw_call *call) {
  const kw_tensor_ref *in = call->args[0].u.tensor, *out = call->outs[0];
  const uint64_t size = kw_mutant_item_size(out->dtype);
  const bool turned = in->rank == 2 && in->strides[0] == 1 && in->strides[1] > 1 && in->shape[0] == in->shape[1];
  if (!turned || in->mem != out->mem || in->offset != out->offset) return kw_mutant_launch_real(call);
  kw_status status = kw_mutant_real.stream.synchronize(call->device, call->stream, KW_WAIT_FOREVER);
  if (status != KW_OK) return status;
  for (int64_t i = 0; i < out->numel; i++) {
    const int64_t other = i % out->shape[0] * out->shape[0] + i / out->shape[0];
    memmove(kw_mutant_at(out, i), kw_mutant_at(in, other), size);
  }
  return kw_mutant_launch_real(call);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "relu";
  mutant->launch = launch;
}
