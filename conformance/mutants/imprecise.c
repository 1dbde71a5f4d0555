/* SPDX-License-Identifier: Apache-2.0
 *
 * tanh of f32 is wrong in its last five bits, as a fast approximation is.
 */
#include "mutant.h"

static void element(const kw_mutant_element *e) {
  if (e->call->outs[0]->dtype == KW_F32) *(float *)e->out *= 1 + 0x1p-19f;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "tanh";
  mutant->element = element;
}
