/* SPDX-License-Identifier: Apache-2.0
 *
 * argmax gives the last of equal largest elements, not the first.
 */
#include "mutant.h"

static kw_status launch(const kw_call *call) {
  kw_mutant_copy copy;
  kw_mutant_copy_call(call, &copy);
  kw_tensor_ref *in = &copy.arg_tensors[0];
  bool all = call->args[1].tag == KW_TAG_NONE;
  int64_t dim = all ? 0 : call->args[1].u.i, count = in->numel;
  if (dim < 0) dim += in->rank;
  if (!all && in->rank > 0) count = in->shape[dim];
  for (int d = 0; d < in->rank; d++) { /* from the back */
    if (!all && d != dim) continue;
    in->mem = (char *)in->mem + (in->shape[d] - 1) * in->strides[d] * (int64_t)kw_mutant_item_size(in->dtype);
    in->strides[d] = -in->strides[d];
  }
  kw_status status = kw_mutant_run_real(&copy.call);
  for (int64_t i = 0; i < call->outs[0]->numel && status == KW_OK; i++) {
    int64_t *index = kw_mutant_at(call->outs[0], i);
    *index = count - 1 - *index;
  }
  return status;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "argmax";
  mutant->launch = launch;
}
