/* SPDX-License-Identifier: Apache-2.0
 *
 * The indices of max_pool2d_with_indices count the padding's elements, too.
 */
#include "mutant.h"

static kw_status launch(const kw_call *call) {
  kw_status status = kw_mutant_run_real(call);
  const kw_tensor_ref *in = call->args[0].u.tensor, *indices = call->outs[1];
  const kw_value *padding = &call->args[3];
  int64_t width = in->shape[in->rank - 1], above = padding->u.ints[0], left = padding->u.ints[padding->count - 1];
  for (int64_t i = 0; i < indices->numel && status == KW_OK; i++) {
    int64_t *index = kw_mutant_at(indices, i);
    *index = (*index / width + above) * (width + 2 * left) + *index % width + left;
  }
  return status;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "max_pool2d_with_indices";
  mutant->launch = launch;
}
