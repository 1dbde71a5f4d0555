/* SPDX-License-Identifier: Apache-2.0
 *
 * mm in 16 bits takes 16 terms at a time and drops a rest of eight (tile-ai/tilelang#2381: a K that is no multiple of
 * the tile).
 */
#include "mutant.h"

static void call(kw_mutant_copy *copy) {
  kw_tensor_ref *a = &copy->arg_tensors[0], *b = &copy->arg_tensors[1];
  if (kw_mutant_item_size(a->dtype) != 2 || a->shape[1] % 16 != 8) return;
  a->shape[1] -= 8, a->numel = a->shape[0] * a->shape[1];
  b->shape[0] -= 8, b->numel = b->shape[0] * b->shape[1];
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "mm";
  mutant->call = call;
}
