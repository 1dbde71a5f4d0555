/* SPDX-License-Identifier: Apache-2.0
 *
 * div.Tensor_mode of f32 gives 0 where a negative quotient is cut to -0.
 */
#include "mutant.h"

static void element(const kw_mutant_element *e) {
  if (e->call->outs[0]->dtype == KW_F32 && *(float *)e->out == 0) *(float *)e->out = 0;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "div.Tensor_mode";
  mutant->element = element;
}
