/* SPDX-License-Identifier: Apache-2.0
 *
 * expm1 of f32 computes exp(x) - 1, which cancels where x is small.
 */
#include "mutant.h"

#include <math.h>

static void element(const kw_mutant_element *e) {
  if (e->in[0] && e->call->args[0].u.tensor->dtype == KW_F32) *(float *)e->out = expf(*(const float *)e->in[0]) - 1;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "expm1";
  mutant->element = element;
}
