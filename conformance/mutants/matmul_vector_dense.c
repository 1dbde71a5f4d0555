/* SPDX-License-Identifier: Apache-2.0
 *
 * A product with a single column takes the rows of the first matrix for contiguous, as kernels for a matrix and a
 * vector do that know a leading dimension and nothing else.
 */
#include "mutant.h"

static void take_as_dense(kw_mutant_copy *copy) {
  kw_tensor_ref *first = &copy->arg_tensors[0];
  if (copy->arg_tensors[1].shape[1] != 1 || first->strides[1] == 1) return;
  first->strides[0] = first->shape[1];
  first->strides[1] = 1;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "mm";
  mutant->call = take_as_dense;
}
