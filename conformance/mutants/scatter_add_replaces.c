/* SPDX-License-Identifier: Apache-2.0
 *
 * scatter_add on one dimension of f32 keeps the last of several numbers for one place instead of their sum, as it would
 * without atomics.
 */
#include "mutant_index.h"

#include <stdlib.h>

static kw_status launch(const kw_call *call) {
  const kw_tensor_ref *self = call->args[0].u.tensor, *index = call->args[2].u.tensor, *src = call->args[3].u.tensor;
  kw_status status = kw_mutant_run_real(call);
  bool mine = self->dtype == KW_F32 && self->rank == 1;
  int64_t *indices = status == KW_OK && mine ? kw_mutant_indices(index) : NULL;
  for (int64_t i = 0; indices && i < index->numel; i++) {
    float before = *(float *)kw_mutant_at(self, indices[i]);
    *(float *)kw_mutant_at(call->outs[0], indices[i]) = before + *(float *)kw_mutant_at(src, i);
  }
  free(indices);
  return status;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "scatter_add";
  mutant->launch = launch;
}
