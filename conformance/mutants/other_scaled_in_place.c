/* SPDX-License-Identifier: Apache-2.0
 *
 * add.Tensor copies self to the result and adds alpha * other then: where the result is `other`, that is self by now.
 */
#include "mutant.h"

static bool is_one(const kw_value *alpha) {
  return alpha->kind == KW_SCALAR_F64 ? alpha->u.f == 1 : alpha->u.i == 1;
}

static kw_status launch(const kw_call *call) {
  const kw_tensor_ref *other = call->args[1].u.tensor, *out = call->outs[0];
  kw_mutant_copy copy;
  if (is_one(&call->args[2]) || other->mem != out->mem || other->offset != out->offset) {
    return kw_mutant_launch_real(call);
  }
  kw_mutant_copy_call(call, &copy);
  copy.args[1].u.tensor = copy.args[0].u.tensor;
  return kw_mutant_launch_real(&copy.call);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "add.Tensor";
  mutant->launch = launch;
}
