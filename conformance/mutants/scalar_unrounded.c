/* SPDX-License-Identifier: Apache-2.0
 *
 * eq.Scalar of f32 compares with the Scalar in f64, not rounded to f32.
 */
#include "mutant.h"

static void element(const kw_mutant_element *e) {
  const kw_value *other = &e->call->args[1];
  if (e->call->args[0].u.tensor->dtype != KW_F32 || other->kind != KW_SCALAR_F64) return;
  *(bool *)e->out = (double)*(const float *)e->in[0] == other->u.f;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "eq.Scalar";
  mutant->element = element;
}
