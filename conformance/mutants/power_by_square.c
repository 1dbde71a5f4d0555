/* SPDX-License-Identifier: Apache-2.0
 *
 * pow of f32 by -2, an element of a tensor, is the inverse of the square, which overflows where the result does not
 * become 0 (pytorch/pytorch#184420).
 */
#include "mutant.h"

static void element(const kw_mutant_element *e) {
  if (e->call->outs[0]->dtype != KW_F32 || !e->in[0] || !e->in[1]) return;
  if (e->call->args[0].u.tensor->dtype != KW_F32 || e->call->args[1].u.tensor->dtype != KW_F32) return;
  const float base = *(const float *)e->in[0], exponent = *(const float *)e->in[1];
  const float square = base * base;
  if (exponent == -2) *(float *)e->out = 1 / square;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "pow.Tensor_Tensor";
  mutant->element = element;
}
