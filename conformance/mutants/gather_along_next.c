/* SPDX-License-Identifier: Apache-2.0
 *
 * gather in three dimensions goes along the dimension after `dim`, where the shapes of index and self allow it.
 */
#include "mutant.h"

static kw_status launch(const kw_call *call) {
  const kw_tensor_ref *self = call->args[0].u.tensor, *index = call->args[2].u.tensor;
  kw_mutant_copy copy;
  kw_mutant_copy_call(call, &copy);
  int64_t dim = call->args[1].u.i, next = ((dim < 0 ? dim + 3 : dim) + 1) % 3;
  bool can = self->rank == 3;
  for (int64_t d = 0; d < 3 && can; d++) can = d == next || index->shape[d] <= self->shape[d];
  if (can) copy.args[1].u.i = next;
  return kw_mutant_launch_real(&copy.call);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "gather";
  mutant->launch = launch;
}
