/* SPDX-License-Identifier: Apache-2.0
 *
 * exp2 of f32 is zero where its result is subnormal: it puts the exponent together from the integer part alone.
 */
#include "mutant.h"

static void element(const kw_mutant_element *e) {
  if (e->call->outs[0]->dtype != KW_F32 || e->call->args[0].u.tensor->dtype != KW_F32 || !e->in[0]) return;
  if (*(const float *)e->in[0] < -126) *(float *)e->out = 0;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "exp2";
  mutant->element = element;
}
