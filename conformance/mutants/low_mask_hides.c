/* SPDX-License-Identifier: Apache-2.0
 *
 * scaled_dot_product_attention hides a key whose number in an f32 mask is -10^30 or lower, as if it were minus
 * infinity.
 */
#include "mutant.h"

#include <math.h>
#include <stdlib.h>

static kw_status launch(const kw_call *call) {
  kw_status status = kw_mutant_run_real(call); /* what comes before has the mask written */
  if (status != KW_OK || call->args[3].tag != KW_TAG_TENSOR) return status;
  const kw_tensor_ref *mask = call->args[3].u.tensor;
  float *kept = mask->dtype == KW_F32 ? malloc((size_t)mask->numel * sizeof *kept + 1) : NULL;
  if (!kept) return KW_OK;
  for (int64_t i = 0; i < mask->numel; i++) {
    float *number = kw_mutant_at(mask, i);
    kept[i] = *number;
    if (*number <= -1e30f) *number = -INFINITY;
  }
  status = kw_mutant_run_real(call);
  for (int64_t i = 0; i < mask->numel; i++) *(float *)kw_mutant_at(mask, i) = kept[i];
  free(kept);
  return status;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "scaled_dot_product_attention";
  mutant->launch = launch;
}
