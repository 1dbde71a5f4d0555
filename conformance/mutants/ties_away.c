/* SPDX-License-Identifier: Apache-2.0
 *
 * round of f32 takes ties away from zero, as C's round does.
 */
#include "mutant.h"

#include <math.h>

static void element(const kw_mutant_element *e) {
  if (e->in[0] && e->call->outs[0]->dtype == KW_F32) *(float *)e->out = roundf(*(const float *)e->in[0]);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "round";
  mutant->element = element;
}
