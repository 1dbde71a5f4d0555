/* SPDX-License-Identifier: Apache-2.0
 *
 * exp refuses strided inputs, but says KW_OK all the same.
 */
#include "mutant.h"

static kw_status launch(const kw_call *call) {
  const kw_tensor_ref *in = call->args[0].u.tensor;
  bool dense = kw_mutant_extent(in) == (uint64_t)in->numel * kw_mutant_item_size(in->dtype);
  return dense ? kw_mutant_launch_real(call) : KW_OK;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "exp";
  mutant->launch = launch;
}
