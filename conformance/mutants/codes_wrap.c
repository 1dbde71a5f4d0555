/* SPDX-License-Identifier: Apache-2.0
 *
 * quantize_per_tensor from f32 to i8 takes the low byte of a code out of range, instead of the nearest code in range.
 */
#include "mutant.h"

#include <math.h>

static void element(const kw_mutant_element *e) {
  if (e->call->args[0].u.tensor->dtype != KW_F32 || e->call->outs[0]->dtype != KW_I8) return;
  double value = rint((double)*(const float *)e->in[0] / (double)(float)e->call->args[1].u.f);
  int8_t *out = e->out;
  if (fabs(value) < 1e9) *out = (int8_t)(uint8_t)((int64_t)value + e->call->args[2].u.i);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "quantized_decomposed::quantize_per_tensor";
  mutant->element = element;
}
