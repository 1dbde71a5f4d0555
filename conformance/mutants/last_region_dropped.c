/* SPDX-License-Identifier: Apache-2.0
 *
 * _roi_align_backward leaves the last region out.
 */
#include "mutant.h"

static void call(kw_mutant_copy *copy) {
  for (int i = 0; i < 2; i++) {
    kw_tensor_ref *tensor = &copy->arg_tensors[i];
    if (tensor->shape[0] == 0) continue;
    tensor->numel -= tensor->numel / tensor->shape[0];
    tensor->shape[0]--;
  }
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "torchvision::_roi_align_backward";
  mutant->call = call;
}
