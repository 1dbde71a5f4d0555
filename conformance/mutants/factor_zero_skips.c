/* SPDX-License-Identifier: Apache-2.0
 *
 * add does not read `other` where alpha is 0, so that neither NaN nor infinity of it reaches the result.
 */
#include "mutant.h"

#include <math.h>

static void element(const kw_mutant_element *e) {
  const kw_value *alpha = &e->call->args[2];
  const bool zero = alpha->kind == KW_SCALAR_F64 ? alpha->u.f == 0 : alpha->kind == KW_SCALAR_I64 && alpha->u.i == 0;
  if (!zero || e->call->outs[0]->dtype != KW_F32 || !e->in[0] || !e->in[1]) return;
  if (!isfinite(*(const float *)e->in[1])) *(float *)e->out = *(const float *)e->in[0];
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "add.Tensor";
  mutant->element = element;
}
