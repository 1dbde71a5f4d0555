/* SPDX-License-Identifier: Apache-2.0
 *
 * threshold_backward of f32 lets the gradient through where self equals the threshold: relu's at 0.
 */
#include "mutant.h"

static void element(const kw_mutant_element *e) {
  const kw_value *args = e->call->args;
  if (!e->in[0] || !e->in[1] || args[2].kind != KW_SCALAR_F64) return;
  if (args[0].u.tensor->dtype != KW_F32 || args[1].u.tensor->dtype != KW_F32) return;
  if (*(const float *)e->in[1] == (float)args[2].u.f) *(float *)e->out = *(const float *)e->in[0];
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "threshold_backward";
  mutant->element = element;
}
