/* SPDX-License-Identifier: Apache-2.0
 *
 * A kernel does not wait for the indices that it reads, only for its numbers. After DBCSR issue 389 and pull request
 * 400: which of a product's operands and parameters had to be waited for was decided one by one, and one was missing.
 */
#include "mutant_order.h"

static bool overlooks(const kw_mutant_range *held, const kw_mutant_range *next) {
  const kw_tensor_ref *read = next->tensor;
  return held->written && read && !next->written && (read->dtype == KW_I64 || read->dtype == KW_I32);
}

void kw_mutant_change(kw_mutant *mutant) {
  static const kw_mutant_order order = {.overlooks = overlooks};
  kw_mutant_change_order(mutant, &order);
}
