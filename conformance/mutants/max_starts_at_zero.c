/* SPDX-License-Identifier: Apache-2.0
 *
 * amax of f32 starts at 0: where all elements are negative it gives 0.
 */
#include "mutant.h"

static void element(const kw_mutant_element *e) {
  if (e->call->outs[0]->dtype == KW_F32 && *(float *)e->out < 0) *(float *)e->out = 0;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "amax";
  mutant->element = element;
}
