/* SPDX-License-Identifier: Apache-2.0
 *
 * argmax of a whole tensor numbers the elements as they lie in memory. After pytorch issue 163929: of a transposed
 * tensor argmin gave the index in memory.
 */
#include "mutant.h"

/* Dimensions by falling strides: the call is one on a dense tensor then. */
static void order_by_memory(kw_mutant_copy *copy) {
  kw_tensor_ref *tensor = &copy->arg_tensors[0];
  if (copy->args[1].tag != KW_TAG_NONE) return;
  for (uint32_t i = 1; i < tensor->rank; i++) {
    for (uint32_t k = i; k > 0 && tensor->strides[k] > tensor->strides[k - 1]; k--) {
      const int64_t size = tensor->shape[k], stride = tensor->strides[k];
      tensor->shape[k] = tensor->shape[k - 1], tensor->strides[k] = tensor->strides[k - 1];
      tensor->shape[k - 1] = size, tensor->strides[k - 1] = stride;
    }
  }
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "argmax";
  mutant->call = order_by_memory;
}
