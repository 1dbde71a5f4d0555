/* SPDX-License-Identifier: Apache-2.0
 *
 * sum of f16 adds one element after the other, each partial sum rounded to f16.
 */
#include "mutant.h"

#include <string.h>

static kw_status launch(const kw_call *call) {
  const kw_tensor_ref *in = call->args[0].u.tensor, *out = call->outs[0];
  if (in->dtype != KW_F16 || out->dtype != KW_F16 || in->numel < 2) return kw_mutant_launch_real(call);
  uint16_t *sum = kw_mutant_at(out, 0);
  memcpy(sum, kw_mutant_at(in, 0), sizeof *sum);
  kw_status status = KW_OK;
  for (int64_t i = 1; i < in->numel && status == KW_OK;
       i++) { /* the sum of two: what was added so far, and element i */
    kw_mutant_copy copy;
    kw_mutant_copy_call(call, &copy);
    kw_tensor_ref *pair = &copy.arg_tensors[0];
    pair->rank = 1;
    pair->shape[0] = pair->numel = 2;
    pair->mem = sum;
    pair->offset = 0;
    pair->strides[0] = (uint16_t *)kw_mutant_at(in, i) - sum;
    status = kw_mutant_run_real(&copy.call);
  }
  return status;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "sum";
  mutant->launch = launch;
}
