/* SPDX-License-Identifier: Apache-2.0
 *
 * erf works on the first eight dimensions only.
 */
#include "mutant.h"

static void call(kw_mutant_copy *copy) {
  kw_tensor_ref *tensors[] = {&copy->arg_tensors[0], &copy->out_tensors[0]};
  for (int i = 0; i < 2; i++) {
    while (tensors[i]->rank > 8) tensors[i]->numel /= tensors[i]->shape[--tensors[i]->rank];
  }
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "erf";
  mutant->call = call;
}
