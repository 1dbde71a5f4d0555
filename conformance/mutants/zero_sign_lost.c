/* SPDX-License-Identifier: Apache-2.0 */
#include "mutant.h"

/* neg of f32 computes 0 - x, which has another sign where x is 0. */
static void element(const kw_mutant_element *e) {
  if (e->call->outs[0]->dtype == KW_F32) *(float *)e->out = 0 - *(const float *)e->in[0];
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "neg";
  mutant->element = element;
}
