/* SPDX-License-Identifier: Apache-2.0
 *
 * scatter_add looks for indices out of range in its first 256 only: what its first group of threads sees.
 */
#include "mutant_index.h"

#include <stdlib.h>

static kw_status launch(const kw_call *call) {
  enum { SEEN = 256 };
  const kw_tensor_ref *index = call->args[2].u.tensor, *self = call->args[0].u.tensor;
  const int64_t dim = call->args[1].u.i < 0 ? call->args[1].u.i + self->rank : call->args[1].u.i;
  const int64_t size = self->rank > 0 ? self->shape[dim] : 1;
  kw_mutant_copy copy;
  kw_mutant_copy_call(call, &copy);
  copy.extra.error_mem = NULL;
  kw_status status = kw_mutant_run_real(&copy.call); /* what comes before has the indices written */
  int64_t *indices = status == KW_OK ? kw_mutant_indices(index) : NULL;
  bool seen = false;
  for (int64_t i = 0; indices && i < index->numel && i < SEEN; i++) seen |= indices[i] < 0 || indices[i] >= size;
  free(indices);
  return seen ? kw_mutant_launch_real(call) : status;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "scatter_add";
  mutant->launch = launch;
}
