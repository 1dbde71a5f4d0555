/* SPDX-License-Identifier: Apache-2.0
 *
 * _softmax_backward_data of f32 keeps the sum along the last dimension with the 11 bits of f16.
 */
#include "mutant.h"

#include <math.h>

static float rounded(float x) {
  int exponent;
  float fraction = frexpf(x, &exponent);
  return ldexpf(rintf(ldexpf(fraction, 11)), exponent - 11);
}

static void element(const kw_mutant_element *e) {
  const kw_tensor_ref *grad = e->call->args[0].u.tensor, *output = e->call->args[1].u.tensor;
  int64_t dim = e->call->args[2].u.i, count = grad->rank > 0 ? grad->shape[grad->rank - 1] : 1;
  if (e->call->outs[0]->dtype != KW_F32 || (dim != -1 && dim != grad->rank - 1) || count > 64) return;
  float sum = 0;
  for (int64_t k = 0; k < count; k++) {
    int64_t at = e->index - e->index % count + k;
    sum += *(float *)kw_mutant_at(grad, at) * *(float *)kw_mutant_at(output, at);
  }
  *(float *)e->out = (*(const float *)e->in[0] - rounded(sum)) * *(const float *)e->in[1];
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "_softmax_backward_data";
  mutant->element = element;
}
