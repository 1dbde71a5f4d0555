/* SPDX-License-Identifier: Apache-2.0
 *
 * amin of f32 along the second of two dimensions compares with <: NaN is never smaller.
 */
#include "mutant.h"

#include <math.h>

static void element(const kw_mutant_element *e) {
  const kw_tensor_ref *in = e->call->args[0].u.tensor;
  if (in->dtype != KW_F32 || in->rank != 2 || in->shape[0] != e->call->outs[0]->numel) return;
  float smallest = INFINITY;
  for (int64_t k = 0; k < in->shape[1]; k++) {
    float x = *(float *)kw_mutant_at(in, e->index * in->shape[1] + k);
    if (x < smallest) smallest = x;
  }
  if (isnan(*(float *)e->out)) *(float *)e->out = smallest;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "amin";
  mutant->element = element;
}
