/* SPDX-License-Identifier: Apache-2.0
 *
 * gather stops at an index out of range, which it tells: what stands behind that is not written.
 */
#include "mutant_index.h"

#include <stdlib.h>

static kw_status launch(const kw_call *call) {
  const kw_tensor_ref *index = call->args[2].u.tensor, *self = call->args[0].u.tensor;
  const int64_t dim = call->args[1].u.i < 0 ? call->args[1].u.i + self->rank : call->args[1].u.i;
  const int64_t size = self->rank > 0 ? self->shape[dim] : 1;
  kw_status status = kw_mutant_run_real(call);
  int64_t *indices = status == KW_OK ? kw_mutant_indices(index) : NULL, first = 0;
  while (indices && first < index->numel && indices[first] >= 0 && indices[first] < size) first++;
  const bool stops = indices && first < index->numel;
  free(indices);
  return stops ? kw_mutant_run_to(call, first) : status;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "gather";
  mutant->launch = launch;
}
