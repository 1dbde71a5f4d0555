/* SPDX-License-Identifier: Apache-2.0
 *
 * scatter.src accepts an index equal to the size, and writes behind the last place.
 */
#include "mutant_index.h"

#include <stdlib.h>
#include <string.h>

static kw_status launch(const kw_call *call) {
  const kw_tensor_ref *index = call->args[2].u.tensor, *out = call->outs[0];
  kw_status status = kw_mutant_run_real(call);
  int64_t *indices = status == KW_OK && out->rank > 0 ? kw_mutant_indices(index) : NULL;
  int64_t dim = call->args[1].u.i < 0 ? call->args[1].u.i + out->rank : call->args[1].u.i;
  int64_t size = (int64_t)kw_mutant_item_size(out->dtype);
  kw_tensor_ref starts = *out, src = *call->args[3].u.tensor;
  memcpy(starts.shape, index->shape, sizeof starts.shape);
  memcpy(src.shape, index->shape, sizeof src.shape);
  starts.strides[dim] = 0;
  for (int64_t i = 0; indices && i < index->numel; i++) {
    if (indices[i] != out->shape[dim]) continue;
    char *behind = (char *)kw_mutant_at(&starts, i) + indices[i] * out->strides[dim] * size;
    memcpy(behind, kw_mutant_at(&src, i), (size_t)size);
  }
  free(indices);
  return status;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "scatter.src";
  mutant->launch = launch;
}
