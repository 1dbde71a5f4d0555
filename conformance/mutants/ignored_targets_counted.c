/* SPDX-License-Identifier: Apache-2.0
 *
 * nll_loss_forward of f32 without weights takes the mean over all targets, the ignored ones included.
 */
#include "mutant.h"

static void element(const kw_mutant_element *e) {
  const kw_call *call = e->call;
  if (call->outs[0]->dtype != KW_F32 || call->args[2].tag != KW_TAG_NONE || call->args[3].u.i != 1) return;
  float counted = *(float *)kw_mutant_at(call->outs[1], 0);
  *(float *)e->out *= counted / (float)call->args[1].u.tensor->numel;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "nll_loss_forward";
  mutant->element = element;
}
