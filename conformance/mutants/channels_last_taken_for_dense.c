/* SPDX-License-Identifier: Apache-2.0
 *
 * convolution reads an input in channels-last layout as if it were dense.
 */
#include "mutant.h"

static void call(kw_mutant_copy *copy) {
  kw_tensor_ref *input = &copy->arg_tensors[0];
  const bool last = input->rank == 4 && input->strides[1] == 1 && input->shape[1] > 1;
  int64_t stride = 1;
  for (uint32_t d = input->rank; d-- > 0 && last; stride *= input->shape[d]) input->strides[d] = stride;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "convolution";
  mutant->call = call;
}
