/* SPDX-License-Identifier: Apache-2.0
 *
 * scaled_dot_product_attention without a mask takes 64 keys at a time and drops a single one that is left over
 * (pytorch/pytorch#109517: lengths that the tile does not divide).
 */
#include "mutant.h"

/* Takes the last key away; the tensor stays where it is. */
static void drop_key(kw_tensor_ref *tensor) {
  const uint32_t keys = tensor->rank - 2;
  tensor->numel = tensor->numel / tensor->shape[keys] * (tensor->shape[keys] - 1);
  tensor->shape[keys]--;
}

static void call(kw_mutant_copy *copy) {
  kw_tensor_ref *k = &copy->arg_tensors[1], *v = &copy->arg_tensors[2];
  const int64_t keys = k->shape[k->rank - 2];
  if (copy->args[3].tag == KW_TAG_TENSOR || keys < 64 || keys % 64 != 1) return;
  drop_key(k);
  drop_key(v);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "scaled_dot_product_attention";
  mutant->call = call;
}
