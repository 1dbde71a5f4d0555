/* SPDX-License-Identifier: Apache-2.0
 *
 * A vendor's op has a text for an argument, and its kernel always does what the default says. After
 * onnxruntime-extensions issue 279: asking for an attribute that is a string never found one.
 */
#include "mutant_own.h"

#include <string.h>

static double right(const kw_call *call, int64_t i) {
  const double value = kw_mutant_own_at(call->args[0].u.tensor, i);
  return strcmp(call->args[1].u.s, "twice") == 0 ? 2 * value : value;
}

static double wrong(const kw_call *call, int64_t i) {
  return kw_mutant_own_at(call->args[0].u.tensor, i);
}

void kw_mutant_change(kw_mutant *mutant) {
  kw_mutant_add_own(mutant, "mutant::repeated(Tensor self, str how=\"once\") -> Tensor", "mutant::repeated", 2, right,
                    wrong);
}
