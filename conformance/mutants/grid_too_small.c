/* SPDX-License-Identifier: Apache-2.0
 *
 * cos computes the first 65536 elements of a vector and no more.
 */
#include "mutant.h"

static void call(kw_mutant_copy *copy) {
  kw_tensor_ref *tensors[] = {&copy->arg_tensors[0], &copy->out_tensors[0]};
  for (int i = 0; i < 2; i++) {
    if (tensors[i]->rank == 1 && tensors[i]->numel > 65536) tensors[i]->shape[0] = tensors[i]->numel = 65536;
  }
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "cos";
  mutant->call = call;
}
