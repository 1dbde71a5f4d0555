/* SPDX-License-Identifier: Apache-2.0
 *
 * A vendor's op takes a list of numbers, and its kernel's struct has room for three of them. After LWJGL issue 396: the
 * sizes of arguments that are vectors of three were those of three numbers, and not of four.
 */
#include "mutant_own.h"

static double scaled(const kw_call *call, int64_t i, uint32_t most) {
  double sum = 0;
  for (uint32_t k = 0; k < call->args[1].count && k < most; k++) sum += (double)call->args[1].u.ints[k];
  return sum * kw_mutant_own_at(call->args[0].u.tensor, i);
}

static double right(const kw_call *call, int64_t i) {
  return scaled(call, i, UINT32_MAX);
}

static double wrong(const kw_call *call, int64_t i) {
  return scaled(call, i, 3);
}

void kw_mutant_change(kw_mutant *mutant) {
  kw_mutant_add_own(mutant, "mutant::scaled(Tensor self, int[] by) -> Tensor", "mutant::scaled", 2, right, wrong);
}
