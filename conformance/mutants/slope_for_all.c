/* SPDX-License-Identifier: Apache-2.0 */
#include "mutant.h"

/* leaky_relu of f32 is max(x, slope * x), which a slope above 1 turns round. */
static void element(const kw_mutant_element *e) {
  const kw_value *slope = &e->call->args[1];
  if (!e->in[0] || e->call->outs[0]->dtype != KW_F32 || slope->kind != KW_SCALAR_F64) return;
  float x = *(const float *)e->in[0], sloped = x * (float)slope->u.f;
  *(float *)e->out = x > sloped ? x : sloped;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "leaky_relu";
  mutant->element = element;
}
