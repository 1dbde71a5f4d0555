/* SPDX-License-Identifier: Apache-2.0
 *
 * _softmax of f32 along the last dimension does not subtract the row's maximum: exponentials overflow.
 */
#include "mutant.h"

#include <math.h>

static void element(const kw_mutant_element *e) {
  const kw_tensor_ref *in = e->call->args[0].u.tensor;
  int64_t dim = e->call->args[1].u.i, count = in->rank > 0 ? in->shape[in->rank - 1] : 1;
  if (in->dtype != KW_F32 || (dim != -1 && dim != in->rank - 1) || count > 64) return;
  float sum = 0;
  for (int64_t k = 0; k < count; k++) sum += expf(*(float *)kw_mutant_at(in, e->index - e->index % count + k));
  *(float *)e->out = expf(*(const float *)e->in[0]) / sum;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "_softmax";
  mutant->element = element;
}
