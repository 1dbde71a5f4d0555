/* SPDX-License-Identifier: Apache-2.0
 *
 * addmm of f32 adds beta * self also where beta is 0: NaN and infinity of self get through.
 */
#include "mutant.h"

static void element(const kw_mutant_element *e) {
  const kw_value *beta = &e->call->args[3];
  bool zero = beta->kind == KW_SCALAR_F64 ? beta->u.f == 0 : beta->u.i == 0;
  if (zero && e->in[0] && e->call->outs[0]->dtype == KW_F32) *(float *)e->out += 0 * *(const float *)e->in[0];
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "addmm";
  mutant->element = element;
}
