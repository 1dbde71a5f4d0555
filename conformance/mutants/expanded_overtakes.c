/* SPDX-License-Identifier: Apache-2.0
 *
 * An expanded tensor is not seen to read the one that it was expanded from. After flash-attention pull request 2298:
 * what was made for tensors with a stride of 0 and for others was taken for the same, and the reverse.
 */
#include "mutant_order.h"

static bool is_expanded(const kw_tensor_ref *tensor) {
  for (int d = 0; tensor && d < tensor->rank; d++) {
    if (tensor->strides[d] == 0 && tensor->shape[d] > 1) return true;
  }
  return false;
}

static bool overlooks(const kw_mutant_range *held, const kw_mutant_range *next) {
  return is_expanded(held->tensor) != is_expanded(next->tensor);
}

void kw_mutant_change(kw_mutant *mutant) {
  static const kw_mutant_order order = {.overlooks = overlooks};
  kw_mutant_change_order(mutant, &order);
}
