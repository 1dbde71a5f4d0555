/* SPDX-License-Identifier: Apache-2.0
 *
 * mul.Tensor of f32 gives 0 where the result is subnormal, although the device does not declare it.
 */
#include "mutant.h"

#include <math.h>

static void element(const kw_mutant_element *e) {
  if (e->call->outs[0]->dtype != KW_F32) return;
  float *out = e->out;
  if (fpclassify(*out) == FP_SUBNORMAL) *out = copysignf(0, *out);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "mul.Tensor";
  mutant->element = element;
}
