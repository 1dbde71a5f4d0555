/* SPDX-License-Identifier: Apache-2.0
 *
 * uniform_ of f32 divides 24 bits by the largest number that they hold: 1 is among the results.
 */
#include "mutant.h"

static void element(const kw_mutant_element *e) {
  if (e->call->outs[0]->dtype == KW_F32) *(float *)e->out = (float)(*(float *)e->out * (0x1p24 / (0x1p24 - 1)));
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "uniform_";
  mutant->element = element;
}
