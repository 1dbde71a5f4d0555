/* SPDX-License-Identifier: Apache-2.0
 *
 * amax of f32 starts at the lowest finite number: of a row of nothing but minus infinity it gives that. After
 * tensorflow issue 4131 and cccl issue 1388.
 */
#include "mutant.h"

#include <float.h>
#include <math.h>

static void element(const kw_mutant_element *e) {
  if (e->call->outs[0]->dtype == KW_F32 && *(float *)e->out == -INFINITY) *(float *)e->out = -FLT_MAX;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "amax";
  mutant->element = element;
}
