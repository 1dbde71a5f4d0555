/* SPDX-License-Identifier: Apache-2.0
 *
 * lerp.Scalar of f32 always computes from self, so that a weight of 1 does not give end exactly.
 */
#include "mutant.h"

static void element(const kw_mutant_element *e) {
  const kw_value *weight = &e->call->args[2];
  if (!e->in[0] || !e->in[1] || e->call->outs[0]->dtype != KW_F32 || weight->kind != KW_SCALAR_F64) return;
  float self = *(const float *)e->in[0], end = *(const float *)e->in[1];
  *(float *)e->out = self + (float)weight->u.f * (end - self);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "lerp.Scalar";
  mutant->element = element;
}
