/* SPDX-License-Identifier: Apache-2.0
 *
 * div.Tensor computes f64 in float.
 */
#include "mutant.h"

static void element(const kw_mutant_element *e) {
  if (e->call->outs[0]->dtype == KW_F64) *(double *)e->out = (float)*(double *)e->out;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "div.Tensor";
  mutant->element = element;
}
