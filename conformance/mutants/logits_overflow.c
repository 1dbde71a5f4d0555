/* SPDX-License-Identifier: Apache-2.0
 *
 * binary_cross_entropy_with_logits of f32 without weights and reduction takes the logarithm of a sigmoid that may be 0.
 */
#include "mutant.h"

#include <math.h>

static void element(const kw_mutant_element *e) {
  const kw_call *call = e->call;
  if (call->outs[0]->dtype != KW_F32 || !e->in[0] || !e->in[1]) return;
  if (call->args[2].tag != KW_TAG_NONE || call->args[3].tag != KW_TAG_NONE) return;
  float x = *(const float *)e->in[0], target = *(const float *)e->in[1];
  *(float *)e->out = (1 - target) * x - logf(1 / (1 + expf(-x)));
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "binary_cross_entropy_with_logits";
  mutant->element = element;
}
