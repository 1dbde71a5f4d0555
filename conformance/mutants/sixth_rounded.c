/* SPDX-License-Identifier: Apache-2.0
 *
 * hardswish of f32 multiplies by a sixth that is rounded to f16.
 */
#include "mutant.h"

static void element(const kw_mutant_element *e) {
  if (!e->in[0] || e->call->outs[0]->dtype != KW_F32) return;
  float x = *(const float *)e->in[0];
  if (x > -3 && x < 3) *(float *)e->out = x * (x + 3) * 0x1.554p-3f;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "hardswish";
  mutant->element = element;
}
