/* SPDX-License-Identifier: Apache-2.0
 *
 * _amp_foreach_non_finite_check_and_unscale_ looks for infinities in gradients of f32, and NaN passes.
 */
#include "mutant.h"

#include <math.h>

static bool has_infinity(const kw_value *list) {
  for (uint32_t t = 0; t < list->count; t++) {
    const kw_tensor_ref *tensor = list->u.tensors[t];
    if (tensor->dtype != KW_F32) return true;
    for (int64_t i = 0; i < tensor->numel; i++) {
      if (isinf(*(const float *)kw_mutant_at(tensor, i))) return true;
    }
  }
  return false;
}

static kw_status launch(const kw_call *call) {
  float *found = kw_mutant_at(call->args[1].u.tensor, 0);
  kw_status status = kw_mutant_real.stream.synchronize(call->device, call->stream, KW_WAIT_FOREVER);
  const float before = *found;
  if (status == KW_OK) status = kw_mutant_run_real(call);
  if (status == KW_OK && before == 0 && !has_infinity(&call->args[0])) *found = before;
  return status;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "_amp_foreach_non_finite_check_and_unscale_";
  mutant->launch = launch;
}
