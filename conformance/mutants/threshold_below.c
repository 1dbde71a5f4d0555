/* SPDX-License-Identifier: Apache-2.0
 *
 * threshold of f32 keeps elements that equal the threshold.
 */
#include "mutant.h"

static void element(const kw_mutant_element *e) {
  const kw_value *limit = &e->call->args[1];
  if (!e->in[0] || e->call->outs[0]->dtype != KW_F32 || limit->kind != KW_SCALAR_F64) return;
  if (*(const float *)e->in[0] == (float)limit->u.f) *(float *)e->out = *(const float *)e->in[0];
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "threshold";
  mutant->element = element;
}
