/* SPDX-License-Identifier: Apache-2.0
 *
 * sum.dim_IntList has room for four dimensions in what it hands to its kernel, and cuts off where more are whole.
 */
#include "mutant.h"

/* The result of a sum over more of them is that of its first slice. */
static kw_status launch(const kw_call *call) {
  enum { MOST = 4 };
  kw_mutant_copy copy;
  if (call->args[1].tag != KW_TAG_INT_LIST || call->args[1].count <= MOST || call->args[2].u.b) {
    return kw_mutant_launch_real(call);
  }
  kw_mutant_copy_call(call, &copy);
  kw_tensor_ref *in = &copy.arg_tensors[0];
  for (uint32_t i = MOST; i < call->args[1].count; i++) {
    const int64_t dim = call->args[1].u.ints[i];
    const int64_t at = dim < 0 ? dim + in->rank : dim;
    in->numel /= in->shape[at] > 0 ? in->shape[at] : 1;
    in->shape[at] = in->shape[at] > 0;
  }
  return kw_mutant_launch_real(&copy.call);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "sum.dim_IntList";
  mutant->launch = launch;
}
