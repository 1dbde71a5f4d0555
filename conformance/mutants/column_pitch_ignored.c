/* SPDX-License-Identifier: Apache-2.0
 *
 * mm takes a matrix whose columns are dense for one without a gap between them: the leading dimension is its height.
 */
#include "mutant.h"

static void close_gaps(kw_tensor_ref *matrix) {
  if (matrix->strides[0] == 1 && matrix->strides[1] > matrix->shape[0]) matrix->strides[1] = matrix->shape[0];
}

static void call(kw_mutant_copy *copy) {
  for (int i = 0; i < 2; i++) close_gaps(&copy->arg_tensors[i]);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "mm";
  mutant->call = call;
}
