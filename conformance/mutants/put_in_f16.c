/* SPDX-License-Identifier: Apache-2.0
 *
 * index_put on one dimension of f16 accumulates one value after the other, each partial sum rounded to f16.
 */
#include "mutant.h"

static kw_status launch(const kw_call *call) {
  const kw_tensor_ref *self = call->args[0].u.tensor, *values = call->args[2].u.tensor;
  const kw_tensor_ref *places = call->args[1].u.tensors[0];
  if (self->dtype != KW_F16 || self->rank != 1 || values->rank != 1 || places->rank != 1 || places->numel < 2) {
    return kw_mutant_launch_real(call);
  }
  kw_tensor_ref place = *places;
  const kw_tensor_ref *list[] = {&place};
  kw_mutant_copy copy;
  kw_mutant_copy_call(call, &copy);
  copy.args[1].u.tensors = list;
  kw_tensor_ref *value = &copy.arg_tensors[2];
  place.shape[0] = place.numel = value->shape[0] = value->numel = 1;
  kw_status status = KW_OK;
  for (int64_t i = 0; i < places->numel && status == KW_OK; i++) {
    place.offset = places->offset + (uint64_t)(i * places->strides[0]) * kw_mutant_item_size(places->dtype);
    value->offset = values->offset + (uint64_t)(i * values->strides[0]) * sizeof(uint16_t);
    status = kw_mutant_run_real(&copy.call);
    copy.arg_tensors[0] = *call->outs[0]; /* the next adds to it */
  }
  return status;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "index_put";
  mutant->launch = launch;
}
