/* SPDX-License-Identifier: Apache-2.0
 *
 * sub.Tensor writes into its second input where that is expanded.
 */
#include "mutant.h"

static void element(const kw_mutant_element *e) {
  const kw_tensor_ref *in = e->call->args[1].u.tensor;
  for (int d = 0; d < in->rank; d++) {
    if (e->index == 0 && in->strides[d] == 0 && in->shape[d] > 1) *(unsigned char *)kw_mutant_at(in, 0) ^= 1;
  }
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "sub.Tensor";
  mutant->element = element;
}
