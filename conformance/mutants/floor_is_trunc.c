/* SPDX-License-Identifier: Apache-2.0
 *
 * floor of f32 goes through an integer conversion, which cuts towards zero.
 */
#include "mutant.h"

#include <math.h>

static void element(const kw_mutant_element *e) {
  if (e->in[0] && e->call->outs[0]->dtype == KW_F32) *(float *)e->out = truncf(*(const float *)e->in[0]);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "floor";
  mutant->element = element;
}
