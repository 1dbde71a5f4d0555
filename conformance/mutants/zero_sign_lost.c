/* SPDX-License-Identifier: Apache-2.0
 *
 * neg of f32 computes 0 - x, whose sign is wrong where x is 0.
 */
#include "mutant.h"

static void element(const kw_mutant_element *e) {
  if (e->call->outs[0]->dtype == KW_F32) *(float *)e->out = 0 - *(const float *)e->in[0];
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "neg";
  mutant->element = element;
}
