/* SPDX-License-Identifier: Apache-2.0
 *
 * convolution_backward takes the bias's gradient from the last image of the batch only.
 */
#include "mutant.h"

#include <stddef.h>

static kw_status launch(const kw_call *call) {
  kw_status status = kw_mutant_run_real(call);
  const kw_tensor_ref *grad = call->args[0].u.tensor, *input = call->args[1].u.tensor;
  if (status != KW_OK || !call->outs[2] || grad->shape[0] < 2) return status;
  kw_mutant_copy copy;
  kw_mutant_copy_call(call, &copy);
  const kw_tensor_ref *whole[] = {grad, input};
  for (uint32_t i = 0; i < 2; i++) {
    kw_tensor_ref *one = &copy.arg_tensors[i];
    one->offset += (uint64_t)((one->shape[0] - 1) * one->strides[0]) * kw_mutant_item_size(one->dtype);
    one->shape[0] = 1;
    one->numel = whole[i]->numel / whole[i]->shape[0];
  }
  copy.outs[0] = copy.outs[1] = NULL;
  return kw_mutant_launch_real(&copy.call);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "convolution_backward";
  mutant->launch = launch;
}
