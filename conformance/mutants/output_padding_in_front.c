/* SPDX-License-Identifier: Apache-2.0
 *
 * A transposed convolution puts what output_padding adds at the beginning.
 */
#include "mutant.h"

static kw_status launch(const kw_call *call) {
  kw_mutant_copy copy;
  kw_mutant_copy_call(call, &copy);
  int64_t padding[3] = {0};
  for (uint32_t d = 0; d < 3; d++) {
    const kw_value *own = &call->args[4], *extra = &call->args[7];
    padding[d] =
        own->u.ints[d < own->count ? d : own->count - 1] - extra->u.ints[d < extra->count ? d : extra->count - 1];
  }
  copy.args[4].u.ints = padding;
  copy.args[4].count = call->args[1].u.tensor->rank - 2u;
  if (!call->args[6].u.b) return kw_mutant_launch_real(call);
  return kw_mutant_launch_real(&copy.call);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "convolution";
  mutant->launch = launch;
}
