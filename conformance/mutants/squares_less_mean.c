/* SPDX-License-Identifier: Apache-2.0
 *
 * var.correction over the last dimension of f32 is the mean of squares less the square of the mean, which cancels for
 * large numbers.
 */
#include "mutant.h"

static kw_status launch(const kw_call *call) {
  const kw_tensor_ref *in = call->args[0].u.tensor, *out = call->outs[0];
  const kw_value *dim = &call->args[1], *correction = &call->args[2];
  kw_status status = kw_mutant_run_real(call);
  bool last = in->rank == 2 && dim->tag == KW_TAG_INT_LIST && dim->count == 1 && dim->u.ints[0] == 1;
  if (status != KW_OK || in->dtype != KW_F32 || !last) return status;
  const double less = correction->tag == KW_TAG_NONE      ? 1
                      : correction->kind == KW_SCALAR_I64 ? (double)correction->u.i
                                                          : correction->u.f;
  const float count = (float)in->shape[1];
  for (int64_t row = 0; row < out->numel; row++) {
    float sum = 0, squares = 0;
    for (int64_t i = 0; i < in->shape[1]; i++) {
      const float x = *(float *)kw_mutant_at(in, row * in->shape[1] + i);
      sum += x;
      squares += x * x;
    }
    *(float *)kw_mutant_at(out, row) = (squares - sum * sum / count) / (count - (float)less);
  }
  return KW_OK;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "var.correction";
  mutant->launch = launch;
}
