/* SPDX-License-Identifier: Apache-2.0
 *
 * div.Scalar multiplies by the inverse, which is infinite of a subnormal Scalar and NaN beside a 0.
 */
#include "mutant.h"

static void element(const kw_mutant_element *e) {
  const kw_value *divisor = &e->call->args[1];
  if (e->call->outs[0]->dtype != KW_F32 || !e->in[0] || e->call->args[0].u.tensor->dtype != KW_F32) return;
  if (divisor->kind != KW_SCALAR_F64) return;
  const float inverse = 1 / (float)divisor->u.f;
  *(float *)e->out = *(const float *)e->in[0] * inverse;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "div.Scalar";
  mutant->element = element;
}
