/* SPDX-License-Identifier: Apache-2.0
 *
 * fill_.Scalar rounds its value to f32 on the way to the tensor's dtype.
 */
#include "mutant.h"

static void call(kw_mutant_copy *copy) {
  kw_value *value = &copy->args[1];
  if (copy->call.outs[0]->dtype != KW_F64 && value->kind == KW_SCALAR_F64) value->u.f = (float)value->u.f;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "fill_.Scalar";
  mutant->call = call;
}
