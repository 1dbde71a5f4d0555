/* SPDX-License-Identifier: Apache-2.0
 *
 * max_pool2d_with_indices_backward gives an element the gradient of the last window that names it only, not the sum.
 */
#include "mutant_index.h"

#include <stdlib.h>

static kw_status launch(const kw_call *call) {
  kw_status status = kw_mutant_run_real(call);
  const kw_tensor_ref *grad = call->args[0].u.tensor, *out = call->outs[0];
  if (status != KW_OK || grad->dtype != KW_F32 || grad->numel == 0) return status;
  int64_t planes = out->numel / out->shape[out->rank - 2] / out->shape[out->rank - 1];
  int64_t plane = out->numel / planes, windows = grad->numel / planes;
  int64_t *indices = kw_mutant_indices(call->args[7].u.tensor);
  for (int64_t i = 0; indices && i < grad->numel; i++) {
    if (indices[i] < 0 || indices[i] >= plane) continue;
    *(float *)kw_mutant_at(out, i / windows * plane + indices[i]) = *(const float *)kw_mutant_at(grad, i);
  }
  free(indices);
  return indices ? status : KW_ERR_OUT_OF_MEMORY;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "max_pool2d_with_indices_backward";
  mutant->launch = launch;
}
