/* SPDX-License-Identifier: Apache-2.0
 *
 * scaled_dot_product_attention multiplies the first 128 columns of queries and keys, however wide they are: what its
 * kernel holds of a row.
 */
#include "mutant.h"

static void call(kw_mutant_copy *copy) {
  enum { HELD = 128 };
  for (uint32_t i = 0; i < 2; i++) {
    kw_tensor_ref *tensor = &copy->arg_tensors[i];
    int64_t *width = &tensor->shape[tensor->rank - 1];
    if (*width <= HELD) continue;
    tensor->numel = tensor->numel / *width * HELD;
    *width = HELD;
  }
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "scaled_dot_product_attention";
  mutant->call = call;
}
