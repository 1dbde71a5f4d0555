/* SPDX-License-Identifier: Apache-2.0
 *
 * _softmax of f32 goes along its rows in chunks of 32 and takes the largest so far off each: where the first chunk
 * holds nothing but minus infinity, the row is NaN. After pytorch issue 187456.
 */
#include "mutant.h"

#include <math.h>

static kw_status launch(const kw_call *call) {
  enum { CHUNK = 32 };
  const kw_tensor_ref *in = call->args[0].u.tensor, *out = call->outs[0];
  const kw_status status = kw_mutant_run_real(call);
  const int64_t dim = call->args[1].u.i;
  if (status != KW_OK || in->dtype != KW_F32 || in->rank == 0 || (dim != -1 && dim != (int64_t)in->rank - 1)) {
    return status;
  }
  const int64_t length = in->shape[in->rank - 1];
  for (int64_t first = 0; length > CHUNK && first < in->numel; first += length) {
    bool masked = true;
    for (int64_t i = 0; i < CHUNK; i++) masked = masked && *(float *)kw_mutant_at(in, first + i) == -INFINITY;
    for (int64_t i = 0; masked && i < length; i++) *(float *)kw_mutant_at(out, first + i) = NAN;
  }
  return status;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "_softmax";
  mutant->launch = launch;
}
