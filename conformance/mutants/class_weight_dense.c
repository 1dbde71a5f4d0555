/* SPDX-License-Identifier: Apache-2.0
 *
 * nll_loss_forward takes the weights of classes for dense.
 */
#include "mutant.h"

enum { WEIGHT = 2 };

static void call(kw_mutant_copy *copy) {
  if (copy->args[WEIGHT].tag == KW_TAG_TENSOR) copy->arg_tensors[WEIGHT].strides[0] = 1;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "nll_loss_forward";
  mutant->call = call;
}
