/* SPDX-License-Identifier: Apache-2.0
 *
 * A transposed view is taken for a tensor of its own: what reads or writes through one goes before what was enqueued
 * for the tensor. After ExecuTorch pull request 11400: Vulkan tensor views were copies with an access state of their
 * own, and so the last access through the other was not known when barriers were made.
 */
#include "mutant_order.h"

static bool is_transposed(const kw_tensor_ref *tensor) {
  for (int d = 1; tensor && d < tensor->rank; d++) {
    const bool stepped = tensor->shape[d - 1] > 1 && tensor->shape[d] > 1;
    if (stepped && tensor->strides[d - 1] > 0 && tensor->strides[d - 1] < tensor->strides[d]) return true;
  }
  return false;
}

static bool overlooks(const kw_mutant_range *held, const kw_mutant_range *next) {
  return is_transposed(held->tensor) != is_transposed(next->tensor);
}

void kw_mutant_change(kw_mutant *mutant) {
  static const kw_mutant_order order = {.overlooks = overlooks};
  kw_mutant_change_order(mutant, &order);
}
