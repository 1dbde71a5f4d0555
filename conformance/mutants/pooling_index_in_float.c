/* SPDX-License-Identifier: Apache-2.0
 *
 * The indices of max_pool2d_with_indices go through f32, which does not hold all above 2^24. After pytorch issue 53465.
 */
#include "mutant.h"

static kw_status launch(const kw_call *call) {
  kw_status status = kw_mutant_run_real(call);
  const kw_tensor_ref *indices = call->outs[1];
  for (int64_t i = 0; i < indices->numel && status == KW_OK; i++) {
    int64_t *index = kw_mutant_at(indices, i);
    *index = (int64_t)(float)*index;
  }
  return status;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "max_pool2d_with_indices";
  mutant->launch = launch;
}
