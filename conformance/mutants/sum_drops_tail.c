/* SPDX-License-Identifier: Apache-2.0
 *
 * A long sum leaves out what is less than a block of 64 at its end: too little to be seen among many numbers alike.
 */
#include "mutant.h"

static void drop_tail(kw_mutant_copy *copy) {
  kw_tensor_ref *tensor = &copy->arg_tensors[0];
  if (tensor->rank != 1 || tensor->numel < 1 << 20) return;
  tensor->numel -= tensor->numel % 64;
  tensor->shape[0] = tensor->numel;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "sum";
  mutant->call = drop_tail;
}
