/* SPDX-License-Identifier: Apache-2.0
 *
 * native_batch_norm_backward of f32 lets no gradient flow back through mean and variance, even the batch's own.
 */
#include "mutant.h"

static void element(const kw_mutant_element *e) {
  const kw_call *call = e->call;
  const kw_tensor_ref *in = call->args[1].u.tensor;
  if (in->dtype != KW_F32 || !call->args[7].u.b || !call->outs[0] || in->numel == 0) return;
  int64_t inner = 1;
  for (uint32_t d = 2; d < in->rank; d++) inner *= in->shape[d];
  int64_t channel = e->index / inner % in->shape[1];
  float weight = call->args[2].tag == KW_TAG_TENSOR ? *(float *)kw_mutant_at(call->args[2].u.tensor, channel) : 1;
  *(float *)e->out = *(const float *)e->in[0] * weight * *(float *)kw_mutant_at(call->args[6].u.tensor, channel);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "native_batch_norm_backward";
  mutant->element = element;
}
