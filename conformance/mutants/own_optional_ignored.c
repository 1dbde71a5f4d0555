/* SPDX-License-Identifier: Apache-2.0
 *
 * A vendor's op has a tensor that need not be given, and its kernel does without it always. After TensorFlow runtime
 * issue 21: attributes of a kernel were matched by the order of their names, and one took another's place.
 */
#include "mutant_own.h"

static double wrong(const kw_call *call, int64_t i) {
  return kw_mutant_own_at(call->args[0].u.tensor, i);
}

static double right(const kw_call *call, int64_t i) {
  const kw_value *by = &call->args[1];
  return wrong(call, i) + (by->tag == KW_TAG_TENSOR ? kw_mutant_own_at(by->u.tensor, i) : 0);
}

void kw_mutant_change(kw_mutant *mutant) {
  kw_mutant_add_own(mutant, "mutant::moved(Tensor self, Tensor? by=None) -> Tensor", "mutant::moved", 2, right, wrong);
}
