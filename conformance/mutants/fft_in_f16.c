/* SPDX-License-Identifier: Apache-2.0
 *
 * _fft_c2c of c64 gives results of 11 bits, as if intermediate ones were kept in f16.
 */
#include "mutant.h"

#include <math.h>

static float rounded(float x) {
  int exponent;
  float fraction = frexpf(x, &exponent);
  return ldexpf(rintf(fraction * 2048), exponent - 11);
}

static kw_status launch(const kw_call *call) {
  const kw_tensor_ref *out = call->outs[0];
  kw_status status = kw_mutant_run_real(call);
  for (int64_t i = 0; i < out->numel && status == KW_OK && out->dtype == KW_C64; i++) {
    float *parts = kw_mutant_at(out, i);
    parts[0] = rounded(parts[0]);
    parts[1] = rounded(parts[1]);
  }
  return status;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "_fft_c2c";
  mutant->launch = launch;
}
