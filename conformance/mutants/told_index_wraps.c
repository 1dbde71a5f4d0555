/* SPDX-License-Identifier: Apache-2.0
 *
 * scatter_add of f32 tells of an index -1, and adds to the last place all the same.
 */
#include "mutant_index.h"

#include <stdlib.h>
#include <string.h>

static kw_status launch(const kw_call *call) {
  const kw_tensor_ref *index = call->args[2].u.tensor, *out = call->outs[0];
  const int64_t dim = call->args[1].u.i < 0 ? call->args[1].u.i + out->rank : call->args[1].u.i;
  kw_status status = kw_mutant_run_real(call);
  int64_t *indices = status == KW_OK && out->dtype == KW_F32 && out->rank > 0 ? kw_mutant_indices(index) : NULL;
  kw_tensor_ref last = *out, src = *call->args[3].u.tensor;
  memcpy(last.shape, index->shape, sizeof last.shape);
  memcpy(src.shape, index->shape, sizeof src.shape);
  last.strides[dim] = 0;
  last.offset += (uint64_t)((out->shape[dim] - 1) * out->strides[dim]) * sizeof(float);
  for (int64_t i = 0; indices && i < index->numel; i++) {
    if (indices[i] == -1) *(float *)kw_mutant_at(&last, i) += *(const float *)kw_mutant_at(&src, i);
  }
  free(indices);
  return status;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "scatter_add";
  mutant->launch = launch;
}
