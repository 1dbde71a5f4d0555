/* SPDX-License-Identifier: Apache-2.0
 *
 * scatter.src on one dimension gives an element that two values are written to neither of them, but a mix.
 */
#include "mutant.h"

static kw_status launch(const kw_call *call) {
  const kw_tensor_ref *index = call->args[2].u.tensor, *src = call->args[3].u.tensor;
  kw_status status = kw_mutant_run_real(call);
  if (status != KW_OK || index->rank != 1 || index->dtype != KW_I64) return status;
  for (int64_t i = 0; i < index->numel; i++) {
    for (int64_t k = i + 1; k < index->numel; k++) {
      int64_t at = *(int64_t *)kw_mutant_at(index, i);
      if (*(int64_t *)kw_mutant_at(index, k) != at) continue;
      unsigned char *out = kw_mutant_at(call->outs[0], at), *one = kw_mutant_at(src, i), *other = kw_mutant_at(src, k);
      for (uint64_t b = 0; b < kw_mutant_item_size(src->dtype); b++) out[b] = one[b] | other[b];
    }
  }
  return status;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "scatter.src";
  mutant->launch = launch;
}
