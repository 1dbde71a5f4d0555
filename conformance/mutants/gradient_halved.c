/* SPDX-License-Identifier: Apache-2.0
 *
 * mse_loss_backward of f32 forgets the 2 of the square's derivative.
 */
#include "mutant.h"

static void element(const kw_mutant_element *e) {
  if (e->call->outs[0]->dtype == KW_F32) *(float *)e->out /= 2;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "mse_loss_backward";
  mutant->element = element;
}
