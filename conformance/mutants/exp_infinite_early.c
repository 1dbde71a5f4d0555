/* SPDX-License-Identifier: Apache-2.0
 *
 * exp of f32 is infinite above 88.7, though its largest finite result is that of 88.7228. After clamps of vectorised
 * exponentials at 88.376 and the like, which sit below the end of the range.
 */
#include "mutant.h"

#include <math.h>

static void element(const kw_mutant_element *e) {
  if (e->call->outs[0]->dtype != KW_F32 || e->call->args[0].u.tensor->dtype != KW_F32 || !e->in[0]) return;
  if (*(const float *)e->in[0] > 88.7f) *(float *)e->out = INFINITY;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "exp";
  mutant->element = element;
}
