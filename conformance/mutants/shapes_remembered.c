/* SPDX-License-Identifier: Apache-2.0
 *
 * add.Tensor keeps the strides of the first call that has a shape, and uses them for all calls of that shape.
 */
#include "mutant.h"

#include <string.h>

static kw_status launch(const kw_call *call) {
  static kw_tensor_ref first;
  const kw_tensor_ref *in = call->args[0].u.tensor;
  if (in->rank != 2) return kw_mutant_launch_real(call);
  if (first.rank == 0) first = *in;
  kw_mutant_copy copy;
  kw_mutant_copy_call(call, &copy);
  bool known = memcmp(first.shape, in->shape, 2 * sizeof *in->shape) == 0;
  for (int i = 0; i < 2 && known; i++) memcpy(copy.arg_tensors[i].strides, first.strides, sizeof first.strides);
  return kw_mutant_launch_real(&copy.call);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "add.Tensor";
  mutant->launch = launch;
}
