/* SPDX-License-Identifier: Apache-2.0
 *
 * sparse24_linear reads the values of a row from its end.
 */
#include "mutant.h"

static void call(kw_mutant_copy *copy) {
  kw_tensor_ref *values = &copy->arg_tensors[1];
  if (values->numel > 0) {
    const int64_t last = values->shape[1] - 1, size = (int64_t)kw_mutant_item_size(values->dtype);
    values->offset = (uint64_t)((int64_t)values->offset + last * values->strides[1] * size);
    values->strides[1] = -values->strides[1];
  }
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "keyway::sparse24_linear";
  mutant->call = call;
}
