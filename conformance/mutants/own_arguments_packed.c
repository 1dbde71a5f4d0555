/* SPDX-License-Identifier: Apache-2.0
 *
 * A vendor's op takes a bool, a float and an int in a row; its kernel finds the int where it would be if the float had
 * four bytes. After pocl issue 1830: arguments of 8, 4, 8 and 8 bytes were stored without regard to their alignment.
 */
#include "mutant_own.h"

static double right(const kw_call *call, int64_t i) {
  const double value = kw_mutant_own_at(call->args[0].u.tensor, i);
  return (call->args[1].u.b ? -value : value) * call->args[2].u.f * (double)call->args[3].u.i;
}

static double wrong(const kw_call *call, int64_t i) {
  const double value = kw_mutant_own_at(call->args[0].u.tensor, i);
  return (call->args[1].u.b ? -value : value) * call->args[2].u.f;
}

void kw_mutant_change(kw_mutant *mutant) {
  kw_mutant_add_own(mutant, "mutant::bent(Tensor self, bool back=False, float by=1.0, int times=1) -> Tensor",
                    "mutant::bent", 4, right, wrong);
}
