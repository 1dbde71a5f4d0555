/* SPDX-License-Identifier: Apache-2.0
 *
 * f8_linear reads the weights as the input's kind of f8.
 */
#include "mutant.h"

static void call(kw_mutant_copy *copy) {
  copy->arg_tensors[1].dtype = copy->arg_tensors[0].dtype;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "keyway::f8_linear";
  mutant->call = call;
}
