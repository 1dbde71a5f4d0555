/* SPDX-License-Identifier: Apache-2.0
 *
 * bsr_linear reads square blocks by columns.
 */
#include "mutant.h"

static void call(kw_mutant_copy *copy) {
  kw_tensor_ref *values = &copy->arg_tensors[3];
  if (values->shape[1] == values->shape[2]) {
    const int64_t stride = values->strides[1];
    values->strides[1] = values->strides[2];
    values->strides[2] = stride;
  }
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "keyway::bsr_linear";
  mutant->call = call;
}
