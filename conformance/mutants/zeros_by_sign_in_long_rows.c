/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows of more than 256 numbers are sorted by their bits, where -0 comes before +0.
 */
#include "mutant.h"

#include <math.h>

static float *value_at(const kw_call *call, int64_t i) {
  return kw_mutant_at(call->outs[0], i);
}

static int64_t *place_at(const kw_call *call, int64_t i) {
  return kw_mutant_at(call->outs[1], i);
}

/* Puts the number before its neighbour. */
static void swap(const kw_call *call, int64_t i) {
  const float value = *value_at(call, i);
  const int64_t place = *place_at(call, i);
  *value_at(call, i) = *value_at(call, i - 1);
  *place_at(call, i) = *place_at(call, i - 1);
  *value_at(call, i - 1) = value;
  *place_at(call, i - 1) = place;
}

static kw_status launch(const kw_call *call) {
  const kw_tensor_ref *out = call->outs[0];
  const kw_status status = kw_mutant_run_real(call);
  if (status != KW_OK || out->dtype != KW_F32 || out->rank != 1 || out->numel <= 256) return status;
  for (int64_t i = 1; i < out->numel; i++) {
    const bool negative = signbit(*value_at(call, i)) && *value_at(call, i) == 0;
    for (int64_t k = i; negative && k > 0 && *value_at(call, k - 1) == 0 && !signbit(*value_at(call, k - 1)); k--) {
      swap(call, k);
    }
  }
  return status;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "sort.stable";
  mutant->launch = launch;
}
