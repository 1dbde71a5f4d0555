/* SPDX-License-Identifier: Apache-2.0
 *
 * add.Tensor takes for contiguous what has the first and the last stride of a contiguous tensor: heads beside rows, as
 * attention's permuted views have them, are read in the order of memory.
 */
#include "mutant.h"

static void call(kw_mutant_copy *copy) {
  kw_tensor_ref *self = &copy->arg_tensors[0];
  const int last = self->rank - 1;
  if (last < 2 || self->strides[last] != 1 || self->strides[0] * self->shape[0] != self->numel) return;
  for (int d = last; d-- > 0;) self->strides[d] = self->strides[d + 1] * self->shape[d + 1];
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "add.Tensor";
  mutant->call = call;
}
