/* SPDX-License-Identifier: Apache-2.0
 *
 * maximum of f32 is fmaxf: where one operand is NaN it gives the other one.
 */
#include "mutant.h"

#include <math.h>

static void element(const kw_mutant_element *e) {
  if (e->call->args[0].u.tensor->dtype != KW_F32 || e->call->args[1].u.tensor->dtype != KW_F32) return;
  *(float *)e->out = fmaxf(*(const float *)e->in[0], *(const float *)e->in[1]);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "maximum";
  mutant->element = element;
}
