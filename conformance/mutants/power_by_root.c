/* SPDX-License-Identifier: Apache-2.0
 *
 * pow of f32 by one half is a root, which keeps the sign of -0 and is NaN of minus infinity (llvm/llvm-project#205592).
 */
#include "mutant.h"

#include <math.h>

static void element(const kw_mutant_element *e) {
  const kw_value *exponent = &e->call->args[1];
  if (e->call->outs[0]->dtype != KW_F32 || exponent->kind != KW_SCALAR_F64 || exponent->u.f != 0.5) return;
  *(float *)e->out = sqrtf(*(const float *)e->in[0]);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "pow.Tensor_Scalar";
  mutant->element = element;
}
