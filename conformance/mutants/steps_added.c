/* SPDX-License-Identifier: Apache-2.0
 *
 * arange of f32 adds one step after the other, each sum rounded.
 */
#include "mutant.h"

static float number(const kw_value *value) {
  return value->kind == KW_SCALAR_F64 ? (float)value->u.f : (float)value->u.i;
}

static kw_status launch(const kw_call *call) {
  const kw_tensor_ref *out = call->outs[0];
  kw_status status = kw_mutant_run_real(call);
  float value = number(&call->args[0]);
  for (int64_t i = 0; i < out->numel && out->dtype == KW_F32 && status == KW_OK; i++) {
    *(float *)kw_mutant_at(out, i) = value;
    value += number(&call->args[2]);
  }
  return status;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "arange.start_step";
  mutant->launch = launch;
}
