/* SPDX-License-Identifier: Apache-2.0
 *
 * elu of f32 computes exp(x) - 1, which cancels close to 0.
 */
#include "mutant.h"

#include <math.h>

static void element(const kw_mutant_element *e) {
  const kw_value *args = e->call->args;
  if (!e->in[0] || e->call->outs[0]->dtype != KW_F32 || args[1].kind != KW_SCALAR_F64) return;
  float x = *(const float *)e->in[0], factor = (float)args[1].u.f * (float)args[2].u.f;
  if (x < 0) *(float *)e->out = (expf(x * (float)args[3].u.f) - 1) * factor;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "elu";
  mutant->element = element;
}
