/* SPDX-License-Identifier: Apache-2.0
 *
 * _fft_r2c of several dimensions scales by the length of the last one only.
 */
#include "mutant.h"

static kw_status launch(const kw_call *call) {
  const kw_tensor_ref *self = call->args[0].u.tensor, *out = call->outs[0];
  kw_status status = kw_mutant_run_real(call);
  float lost = 1;
  for (uint32_t i = 0; i + 1 < call->args[1].count; i++) {
    const int64_t dim = call->args[1].u.ints[i];
    lost *= (float)self->shape[dim < 0 ? dim + self->rank : dim];
  }
  const bool mine = out->dtype == KW_C64 && call->args[2].u.i == 2;
  for (int64_t i = 0; i < out->numel && status == KW_OK && mine; i++) {
    float *parts = kw_mutant_at(out, i);
    parts[0] *= lost;
    parts[1] *= lost;
  }
  return status;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "_fft_r2c";
  mutant->launch = launch;
}
