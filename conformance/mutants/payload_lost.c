/* SPDX-License-Identifier: Apache-2.0
 *
 * copy_ of f32 gives every NaN the same bits.
 */
#include "mutant.h"

#include <math.h>

static void element(const kw_mutant_element *e) {
  if (e->call->outs[0]->dtype == KW_F32 && isnan(*(float *)e->out)) *(float *)e->out = NAN;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "copy_";
  mutant->element = element;
}
