/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory that is used as two dtypes counts as two memories. After Intel's XPU backend for Triton, pull request 7962: a
 * pointer that was loaded in one encoding and stored in another raced.
 */
#include "mutant_order.h"

static bool overlooks(const kw_mutant_range *held, const kw_mutant_range *next) {
  return held->tensor && next->tensor && held->tensor->dtype != next->tensor->dtype;
}

void kw_mutant_change(kw_mutant *mutant) {
  static const kw_mutant_order order = {.overlooks = overlooks};
  kw_mutant_change_order(mutant, &order);
}
