/* SPDX-License-Identifier: Apache-2.0
 *
 * _softmax_backward_data of f32 along the last dimension subtracts the plain sum of the gradients, not the one weighted
 * by the output.
 */
#include "mutant.h"

static void element(const kw_mutant_element *e) {
  const kw_tensor_ref *grad = e->call->args[0].u.tensor;
  int64_t dim = e->call->args[2].u.i, count = grad->rank > 0 ? grad->shape[grad->rank - 1] : 1;
  if (e->call->outs[0]->dtype != KW_F32 || (dim != -1 && dim != grad->rank - 1) || count > 64) return;
  float sum = 0;
  for (int64_t k = 0; k < count; k++) sum += *(float *)kw_mutant_at(grad, e->index - e->index % count + k);
  *(float *)e->out = (*(const float *)e->in[0] - sum) * *(const float *)e->in[1];
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "_softmax_backward_data";
  mutant->element = element;
}
