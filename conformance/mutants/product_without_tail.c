/* SPDX-License-Identifier: Apache-2.0
 *
 * prod of a row takes four elements at a time and drops the remainder.
 */
#include "mutant.h"

static void call(kw_mutant_copy *copy) {
  kw_tensor_ref *in = &copy->arg_tensors[0];
  if (in->rank == 1) in->shape[0] = in->numel -= in->numel % 4;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "prod";
  mutant->call = call;
}
