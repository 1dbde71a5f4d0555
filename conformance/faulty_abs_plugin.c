/* SPDX-License-Identifier: Apache-2.0
 *
 * A device for run_test: the cpu plugin with an abs that goes wrong in a way of its own per dtype, from five elements
 * on.
 */
#include "mutant.h"

#include <stdlib.h>

#define ENOUGH 5

static int *volatile nowhere;

static kw_status launch(const kw_call *call) {
  const kw_tensor_ref *out = call->outs[0];
  kw_status status = kw_mutant_launch_real(call);
  if (out->numel < ENOUGH || status != KW_OK) return status;
  if (out->dtype == KW_F64) *nowhere = 1;
  if (out->dtype == KW_F16) abort();
  float wrong = -1;
  return out->dtype == KW_F32 ? kw_mutant_store(call, out, kw_mutant_place(out, ENOUGH - 1), sizeof wrong, &wrong)
                              : status;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "abs";
  mutant->launch = launch;
}
