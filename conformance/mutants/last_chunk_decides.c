/* SPDX-License-Identifier: Apache-2.0
 *
 * Gradients are checked sixteen at a time, and found_inf is what the last of them say.
 */
#include "mutant.h"

#include <math.h>

enum { CHUNK = 16 };

static bool is_finite(const kw_tensor_ref *tensor) {
  bool finite = true;
  for (int64_t i = 0; i < tensor->numel; i++) finite = finite && isfinite(*(const float *)kw_mutant_at(tensor, i));
  return finite;
}

static kw_status launch(const kw_call *call) {
  const kw_value *list = &call->args[0];
  const kw_status waited = kw_mutant_real.stream.synchronize(call->device, call->stream, KW_WAIT_FOREVER);
  if (waited != KW_OK || list->count <= CHUNK || list->u.tensors[0]->dtype != KW_F32)
    return kw_mutant_launch_real(call);
  float *found = kw_mutant_at(call->args[1].u.tensor, 0);
  const float before = *found;
  bool finite = true;
  const kw_status status = kw_mutant_run_real(call);
  for (uint32_t k = list->count / CHUNK * CHUNK; k < list->count; k++) finite = finite && is_finite(list->u.tensors[k]);
  if (finite) *found = before;
  return status;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "_amp_foreach_non_finite_check_and_unscale_";
  mutant->launch = launch;
}
