/* SPDX-License-Identifier: Apache-2.0
 *
 * sort.stable on one dimension of f32 reverses runs of equal elements.
 */
#include "mutant.h"

static kw_status launch(const kw_call *call) {
  const kw_tensor_ref *values = call->outs[0], *indices = call->outs[1];
  kw_status status = kw_mutant_run_real(call);
  if (status != KW_OK || values->dtype != KW_F32 || values->rank != 1) return status;
  for (int64_t begin = 0, end; begin < values->numel; begin = end) {
    const float first = *(float *)kw_mutant_at(values, begin);
    for (end = begin + 1; end < values->numel && *(float *)kw_mutant_at(values, end) == first;) end++;
    for (int64_t a = begin, b = end - 1; a < b; a++, b--) {
      int64_t *x = kw_mutant_at(indices, a), *y = kw_mutant_at(indices, b), kept = *x;
      *x = *y;
      *y = kept;
    }
  }
  return KW_OK;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "sort.stable";
  mutant->launch = launch;
}
