/* SPDX-License-Identifier: Apache-2.0
 *
 * A vendor's op adds up a list of tensors, and its kernel has slots for two. After jax-mps pull request 212 and Metal's
 * limit of 31 buffers for a kernel: what has more arguments than there are slots must be told, and not cut.
 */
#include "mutant_own.h"

static double total(const kw_call *call, int64_t i, uint32_t most) {
  double sum = 0;
  for (uint32_t k = 0; k < call->args[0].count && k < most; k++) sum += kw_mutant_own_at(call->args[0].u.tensors[k], i);
  return sum;
}

static double right(const kw_call *call, int64_t i) {
  return total(call, i, UINT32_MAX);
}

static double wrong(const kw_call *call, int64_t i) {
  return total(call, i, 2);
}

void kw_mutant_change(kw_mutant *mutant) {
  kw_mutant_add_own(mutant, "mutant::total(Tensor[] tensors) -> Tensor", "mutant::total", 1, right, wrong);
}
