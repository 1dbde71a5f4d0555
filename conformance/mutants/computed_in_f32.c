/* SPDX-License-Identifier: Apache-2.0 */
#include "mutant.h"

/* div.Tensor computes f64 in float. */
static void element(const kw_mutant_element *e) {
  if (e->call->outs[0]->dtype == KW_F64) *(double *)e->out = (float)*(double *)e->out;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "div.Tensor";
  mutant->element = element;
}
