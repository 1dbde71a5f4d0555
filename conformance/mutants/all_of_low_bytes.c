/* SPDX-License-Identifier: Apache-2.0
 *
 * all.dims over the last dimension of i32 looks at the low byte of each element: 256 counts as 0.
 */
#include "mutant.h"

static kw_status launch(const kw_call *call) {
  const kw_tensor_ref *in = call->args[0].u.tensor, *out = call->outs[0];
  const kw_value *dim = &call->args[1];
  kw_status status = kw_mutant_run_real(call);
  bool last = in->rank == 2 && dim->tag == KW_TAG_INT_LIST && dim->count == 1 && dim->u.ints[0] == 1;
  if (status != KW_OK || in->dtype != KW_I32 || !last) return status;
  for (int64_t i = 0; i < in->numel; i++) {
    const int32_t x = *(int32_t *)kw_mutant_at(in, i);
    if ((x & 255) == 0) *(uint8_t *)kw_mutant_at(out, i / in->shape[1]) = 0;
  }
  return KW_OK;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "all.dims";
  mutant->launch = launch;
}
