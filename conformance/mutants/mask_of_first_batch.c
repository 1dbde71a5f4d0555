/* SPDX-License-Identifier: Apache-2.0
 *
 * scaled_dot_product_attention of more than four dimensions takes all masks from the first batch: it steps through the
 * last two dimensions before the scores only.
 */
#include "mutant.h"

static void call(kw_mutant_copy *copy) {
  enum { STEPPED = 4 };
  kw_tensor_ref *mask = &copy->arg_tensors[3];
  if (copy->args[3].tag != KW_TAG_TENSOR) return;
  for (uint32_t d = 0; d + STEPPED < mask->rank; d++) mask->strides[d] = 0;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "scaled_dot_product_attention";
  mutant->call = call;
}
