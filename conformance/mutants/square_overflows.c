/* SPDX-License-Identifier: Apache-2.0
 *
 * asinh of f32 computes log(|x| + sqrt(x^2 + 1)), whose square overflows long before the result does.
 */
#include "mutant.h"

#include <math.h>

static void element(const kw_mutant_element *e) {
  if (!e->in[0] || e->call->args[0].u.tensor->dtype != KW_F32) return;
  float x = *(const float *)e->in[0], square = x * x;
  if (isinf(square)) *(float *)e->out = copysignf(logf(fabsf(x) + sqrtf(square + 1)), x);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "asinh";
  mutant->element = element;
}
