/* SPDX-License-Identifier: Apache-2.0
 *
 * argmax takes a subnormal number for 0, and so finds a zero where there is something larger. After TensorFlow issue
 * 77853: of -0 and the smallest number the index of the zero is given.
 */
#include "mutant.h"

#include <math.h>

static kw_status launch(const kw_call *call) {
  const kw_tensor_ref *in = call->args[0].u.tensor;
  kw_status status = kw_mutant_run_real(call);
  if (status != KW_OK || in->dtype != KW_F32 || call->outs[0]->numel != 1) return status;
  int64_t *found = kw_mutant_at(call->outs[0], 0);
  const bool along = call->args[1].tag == KW_TAG_INT && in->rank != 1;
  const float largest = *found < in->numel && !along ? *(const float *)kw_mutant_at(in, *found) : 1;
  if (largest == 0 || fabsf(largest) >= 0x1p-126f || isnan(largest)) return status;
  for (int64_t i = 0; i < *found; i++) {
    if (fabsf(*(const float *)kw_mutant_at(in, i)) < 0x1p-126f) *found = i;
  }
  return status;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "argmax";
  mutant->launch = launch;
}
