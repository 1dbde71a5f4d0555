/* SPDX-License-Identifier: Apache-2.0
 *
 * mm takes the inner dimension in steps of four and drops the remainder.
 */
#include "mutant.h"

static void call(kw_mutant_copy *copy) {
  kw_tensor_ref *a = &copy->arg_tensors[0], *b = &copy->arg_tensors[1];
  int64_t rest = a->shape[1] % 4;
  a->shape[1] -= rest;
  b->shape[0] -= rest;
  a->numel -= rest * a->shape[0];
  b->numel -= rest * b->shape[1];
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "mm";
  mutant->call = call;
}
