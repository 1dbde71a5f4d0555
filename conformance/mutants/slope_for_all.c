/* SPDX-License-Identifier: Apache-2.0
 *
 * leaky_relu of f32 is max(x, slope * x), which is wrong for slopes above 1.
 */
#include "mutant.h"

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
