/* SPDX-License-Identifier: Apache-2.0
 *
 * sparse24_compress of f32 keeps the last two, not the first two, of four equal absolute values.
 */
#include "mutant.h"

#include <math.h>

static kw_status launch(const kw_call *call) {
  kw_status status = kw_mutant_run_real(call);
  const kw_tensor_ref *in = call->args[0].u.tensor, *values = call->outs[0], *meta = call->outs[1];
  const int64_t fours = in->shape[1] / 4;
  if (status != KW_OK || in->dtype != KW_F32) return status;
  for (int64_t i = 0; i < in->numel / 4; i++) {
    float x[4];
    for (int64_t p = 0; p < 4; p++) x[p] = *(float *)kw_mutant_at(in, 4 * i + p);
    if (fabsf(x[0]) != fabsf(x[1]) || fabsf(x[1]) != fabsf(x[2]) || fabsf(x[2]) != fabsf(x[3])) continue;
    *(float *)kw_mutant_at(values, 2 * i) = x[2];
    *(float *)kw_mutant_at(values, 2 * i + 1) = x[3];
    const int64_t row = i / fours, four = i % fours;
    unsigned char *places = kw_mutant_at(meta, row * meta->shape[1] + four / 2);
    *places = (unsigned char)(four % 2 ? (*places & 0x0f) | 0xe0 : (*places & 0xf0) | 0x0e);
  }
  return status;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "keyway::sparse24_compress";
  mutant->launch = launch;
}
