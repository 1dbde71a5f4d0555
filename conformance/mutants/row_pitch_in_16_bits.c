/* SPDX-License-Identifier: Apache-2.0
 *
 * Copy_ has 16 bits for how many elements lie from one row of a matrix to the next.
 */
#include "mutant.h"

static void cut(kw_tensor_ref *matrix) {
  if (matrix->rank == 2 && matrix->strides[1] == 1) matrix->strides[0] = (uint16_t)matrix->strides[0];
}

static void call(kw_mutant_copy *copy) {
  cut(&copy->arg_tensors[1]);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "copy_";
  mutant->call = call;
}
