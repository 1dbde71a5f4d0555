/* SPDX-License-Identifier: Apache-2.0
 *
 * addmm takes a self of one column for a row where the result is square: its bias of n numbers is one by length alone.
 */
#include "mutant.h"

static void call(kw_mutant_copy *copy) {
  kw_tensor_ref *self = &copy->arg_tensors[0];
  if (self->rank != 2 || self->shape[1] != 1 || self->shape[0] != copy->call.outs[0]->shape[1]) return;
  self->shape[1] = self->shape[0];
  self->strides[1] = self->strides[0];
  self->shape[0] = 1;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "addmm";
  mutant->call = call;
}
