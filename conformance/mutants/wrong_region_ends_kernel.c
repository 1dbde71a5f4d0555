/* SPDX-License-Identifier: Apache-2.0
 *
 * roi_align of f32 stops at a region of no image, which it tells: what the regions behind that are for is not written.
 */
#include "mutant.h"

static kw_status launch(const kw_call *call) {
  const kw_tensor_ref *input = call->args[0].u.tensor, *regions = call->args[1].u.tensor, *out = call->outs[0];
  const kw_status status = kw_mutant_run_real(call);
  int64_t row = 0;
  if (status != KW_OK || regions->dtype != KW_F32) return status;
  for (; row < regions->shape[0]; row++) {
    const float image = *(const float *)kw_mutant_at(regions, row * regions->shape[1]);
    if (!(image >= 0 && image < (float)input->shape[0])) break;
  }
  return row < regions->shape[0] ? kw_mutant_run_to(call, row * (out->numel / out->shape[0])) : status;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "torchvision::roi_align";
  mutant->launch = launch;
}
