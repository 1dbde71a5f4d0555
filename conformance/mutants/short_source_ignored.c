/* SPDX-License-Identifier: Apache-2.0
 *
 * masked_scatter places nothing where `source` has too few elements for a mask that is true throughout, which it tells.
 */
#include "mutant.h"

static kw_status launch(const kw_call *call) {
  const kw_tensor_ref *mask = call->args[1].u.tensor, *source = call->args[2].u.tensor;
  return source->numel < mask->numel ? kw_mutant_run_to(call, 0) : kw_mutant_launch_real(call);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "masked_scatter";
  mutant->launch = launch;
}
