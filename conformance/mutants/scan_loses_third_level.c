/* SPDX-License-Identifier: Apache-2.0
 *
 * cumsum along more than 2^20 elements of several rows starts anew there, in all rows but the first. After dpnp pull
 * request 3063: scans of three levels got wrong offsets, which cancel out where there is one row.
 */
#include "mutant.h"

enum { LEVEL = 1 << 20 };

static kw_status launch(const kw_call *call) {
  const kw_tensor_ref *out = call->outs[0];
  const int64_t length = out->rank == 2 ? out->shape[1] : 0, dim = call->args[1].u.i;
  if (length <= LEVEL || out->dtype != KW_F32 || (dim != 1 && dim != -1)) return kw_mutant_launch_real(call);
  kw_status status = kw_mutant_run_real(call);
  for (int64_t row = 1; row < out->shape[0] && status == KW_OK; row++) {
    const float lost = *(const float *)kw_mutant_at(out, row * length + LEVEL - 1);
    for (int64_t i = LEVEL; i < length; i++) *(float *)kw_mutant_at(out, row * length + i) -= lost;
  }
  return status;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "cumsum";
  mutant->launch = launch;
}
