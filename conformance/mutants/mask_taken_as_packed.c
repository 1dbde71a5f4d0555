/* SPDX-License-Identifier: Apache-2.0
 *
 * scaled_dot_product_attention reads a mask as if its elements lay one behind the other in row-major order.
 */
#include "mutant.h"

static void call(kw_mutant_copy *copy) {
  kw_tensor_ref *mask = &copy->arg_tensors[3];
  const uint64_t packed = (uint64_t)mask->numel * kw_mutant_item_size(mask->dtype);
  int64_t stride = 1;
  if (copy->args[3].tag != KW_TAG_TENSOR || kw_mutant_extent(mask) != packed) return; /* it would read beyond */
  for (uint32_t d = mask->rank; d-- > 0; stride *= mask->shape[d]) mask->strides[d] = stride;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "scaled_dot_product_attention";
  mutant->call = call;
}
