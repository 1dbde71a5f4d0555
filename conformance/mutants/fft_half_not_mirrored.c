/* SPDX-License-Identifier: Apache-2.0
 *
 * _fft_c2r of c64 counts the number in the middle twice also where the length is even, although it has no mirror image
 * then.
 */
#include "mutant.h"

static kw_status launch(const kw_call *call) {
  const kw_tensor_ref *self = call->args[0].u.tensor, *out = call->outs[0];
  const int64_t n = call->args[3].u.i;
  kw_status status = kw_mutant_run_real(call);
  const bool mine = self->dtype == KW_C64 && self->rank == 1 && n % 2 == 0 && call->args[2].u.i == 0;
  for (int64_t i = 0; i < out->numel && status == KW_OK && mine; i++) {
    const float middle = *(const float *)kw_mutant_at(self, n / 2);
    *(float *)kw_mutant_at(out, i) += i % 2 ? -middle : middle;
  }
  return status;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "_fft_c2r";
  mutant->launch = launch;
}
