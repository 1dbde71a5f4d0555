/* SPDX-License-Identifier: Apache-2.0
 *
 * nms keeps the right boxes, but gives them in the order of their indices, not of their scores.
 */
#include "mutant.h"

static kw_status launch(const kw_call *call) {
  kw_status status = kw_mutant_run_real(call);
  const int64_t count = status == KW_OK ? *(int64_t *)kw_mutant_at(call->outs[1], 0) : 0;
  for (int64_t i = 0; i < count; i++) {
    for (int64_t j = i; j > 0; j--) {
      int64_t *lower = kw_mutant_at(call->outs[0], j - 1), *upper = kw_mutant_at(call->outs[0], j), swapped = *lower;
      if (*lower <= *upper) break;
      *lower = *upper;
      *upper = swapped;
    }
  }
  return status;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "torchvision::nms";
  mutant->launch = launch;
}
