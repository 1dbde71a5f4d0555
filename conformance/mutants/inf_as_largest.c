/* SPDX-License-Identifier: Apache-2.0
 *
 * mul.Tensor of f32 gives the largest finite number instead of infinity.
 */
#include "mutant.h"

#include <float.h>
#include <math.h>

static void element(const kw_mutant_element *e) {
  if (e->call->outs[0]->dtype != KW_F32) return;
  float *out = e->out;
  if (isinf(*out)) *out = copysignf(FLT_MAX, *out);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "mul.Tensor";
  mutant->element = element;
}
