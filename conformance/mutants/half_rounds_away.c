/* SPDX-License-Identifier: Apache-2.0
 *
 * quantize_per_tensor rounds halves away from zero.
 */
#include "mutant.h"

#include <math.h>

static void element(const kw_mutant_element *e) {
  if (e->call->args[0].u.tensor->dtype != KW_F32 || e->call->outs[0]->dtype != KW_I8) return;
  double value = (double)*(const float *)e->in[0] / (double)(float)e->call->args[1].u.f;
  int8_t *out = e->out;
  if (fabs(value) > 100 || value - floor(value) != 0.5) return;
  double code = round(value) + (double)e->call->args[2].u.i;
  if (code >= (double)e->call->args[3].u.i && code <= (double)e->call->args[4].u.i) *out = (int8_t)code;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "quantized_decomposed::quantize_per_tensor";
  mutant->element = element;
}
