/* SPDX-License-Identifier: Apache-2.0
 *
 * scaled_dot_product_attention of f32 divides 0 by 0 in a row whose mask hides every key.
 */
#include "mutant.h"

#include <math.h>

static void element(const kw_mutant_element *e) {
  if (e->call->outs[0]->dtype == KW_F32 && *(float *)e->out == 0) *(float *)e->out = NAN;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "scaled_dot_product_attention";
  mutant->element = element;
}
