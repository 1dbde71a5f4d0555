/* SPDX-License-Identifier: Apache-2.0
 *
 * copy_ from f32 to f16 cuts off, and does not round, where the result is subnormal.
 */
#include "mutant.h"

#include <math.h>

static void element(const kw_mutant_element *e) {
  if (e->call->outs[0]->dtype != KW_F16 || !e->in[1] || e->call->args[1].u.tensor->dtype != KW_F32) return;
  const float x = *(const float *)e->in[1];
  if (fabsf(x) < 0x1p-14f) *(uint16_t *)e->out = (uint16_t)((signbit(x) ? 0x8000 : 0) | (int)(fabsf(x) * 0x1p24f));
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "copy_";
  mutant->element = element;
}
