/* SPDX-License-Identifier: Apache-2.0
 *
 * mean of f32 divides by n - 1.
 */
#include "mutant.h"

static void element(const kw_mutant_element *e) {
  float count = (float)e->call->args[0].u.tensor->numel;
  if (e->call->outs[0]->dtype == KW_F32 && count > 1) *(float *)e->out *= count / (count - 1);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "mean";
  mutant->element = element;
}
