/* SPDX-License-Identifier: Apache-2.0
 *
 * pow of f32 is infinite from 2^127 on: it clamps the product of the exponent and the logarithm a unit too low.
 */
#include "mutant.h"

#include <math.h>

static void element(const kw_mutant_element *e) {
  if (e->call->outs[0]->dtype != KW_F32) return;
  float *out = (float *)e->out;
  if (fabsf(*out) >= 0x1p127f) *out = copysignf(INFINITY, *out);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "pow.Tensor_Tensor";
  mutant->element = element;
}
