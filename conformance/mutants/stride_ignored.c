/* SPDX-License-Identifier: Apache-2.0
 *
 * sub.Tensor reads its inputs as if they were contiguous, where that stays inside their memory.
 */
#include "mutant.h"

static void make_contiguous(kw_tensor_ref *tensor) {
  if (kw_mutant_extent(tensor) < (uint64_t)tensor->numel * kw_mutant_item_size(tensor->dtype)) return;
  int64_t stride = 1;
  for (int d = tensor->rank; d-- > 0;) {
    tensor->strides[d] = stride;
    stride *= tensor->shape[d];
  }
}

static void call(kw_mutant_copy *copy) {
  for (int i = 0; i < 2; i++) make_contiguous(&copy->arg_tensors[i]);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "sub.Tensor";
  mutant->call = call;
}
