/* SPDX-License-Identifier: Apache-2.0
 *
 * index_put on one dimension of f32 accumulates only one of the values for a place.
 */
#include "mutant_index.h"

#include <stdlib.h>

static kw_status launch(const kw_call *call) {
  const kw_tensor_ref *self = call->args[0].u.tensor, *values = call->args[2].u.tensor;
  const kw_tensor_ref *places = call->args[1].u.tensors[0];
  kw_status status = kw_mutant_run_real(call);
  bool mine = call->args[3].u.b && self->dtype == KW_F32 && self->rank == 1 && values->numel == places->numel;
  int64_t *indices = status == KW_OK && mine ? kw_mutant_indices(places) : NULL;
  for (int64_t i = 0; indices && i < places->numel; i++) {
    int64_t at = indices[i] < 0 ? indices[i] + self->numel : indices[i];
    float before = *(float *)kw_mutant_at(self, at);
    *(float *)kw_mutant_at(call->outs[0], at) = before + *(float *)kw_mutant_at(values, i);
  }
  free(indices);
  return status;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "index_put";
  mutant->launch = launch;
}
