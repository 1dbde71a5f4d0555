/* SPDX-License-Identifier: Apache-2.0
 *
 * slice_scatter replaces the right number of slices, but side by side, whatever the step.
 */
#include "mutant.h"

static kw_status launch(const kw_call *call) {
  const kw_tensor_ref *self = call->args[0].u.tensor, *src = call->args[1].u.tensor;
  const int64_t dim = call->args[2].u.i < 0 ? call->args[2].u.i + self->rank : call->args[2].u.i;
  kw_mutant_copy copy;
  kw_mutant_copy_call(call, &copy);
  if (call->args[3].tag == KW_TAG_INT && call->args[3].u.i >= 0) {
    copy.args[4] = (kw_value){.tag = KW_TAG_INT, .u.i = call->args[3].u.i + src->shape[dim]};
    copy.args[5].u.i = 1;
  }
  return kw_mutant_launch_real(&copy.call);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "slice_scatter";
  mutant->launch = launch;
}
