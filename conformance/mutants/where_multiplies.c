/* SPDX-License-Identifier: Apache-2.0
 *
 * where.self of f32 blends, condition * self + (1 - condition) * other, which is NaN where the operand not chosen is
 * infinite.
 */
#include "mutant.h"

static void element(const kw_mutant_element *e) {
  if (e->call->args[1].u.tensor->dtype != KW_F32 || e->call->args[2].u.tensor->dtype != KW_F32) return;
  float condition = *(const bool *)e->in[0];
  *(float *)e->out = condition * *(const float *)e->in[1] + (1 - condition) * *(const float *)e->in[2];
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "where.self";
  mutant->element = element;
}
