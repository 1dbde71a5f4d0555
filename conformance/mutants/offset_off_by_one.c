/* SPDX-License-Identifier: Apache-2.0
 *
 * abs reads its input one element too early.
 */
#include "mutant.h"

static void call(kw_mutant_copy *copy) {
  kw_tensor_ref *input = &copy->arg_tensors[0];
  uint64_t step = kw_mutant_item_size(input->dtype);
  if (input->offset >= step) input->offset -= step;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "abs";
  mutant->call = call;
}
