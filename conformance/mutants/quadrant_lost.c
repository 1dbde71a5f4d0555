/* SPDX-License-Identifier: Apache-2.0
 *
 * atan2 of f32 computes atan(y / x): the left half of the plane is folded onto the right.
 */
#include "mutant.h"

#include <math.h>

static void element(const kw_mutant_element *e) {
  if (!e->in[0] || !e->in[1] || e->call->args[0].u.tensor->dtype != KW_F32) return;
  if (e->call->args[1].u.tensor->dtype != KW_F32) return;
  *(float *)e->out = atanf(*(const float *)e->in[0] / *(const float *)e->in[1]);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "atan2";
  mutant->element = element;
}
