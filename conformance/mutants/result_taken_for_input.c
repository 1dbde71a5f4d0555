/* SPDX-License-Identifier: Apache-2.0 */
#include "mutant.h"

/* elu_backward takes the result, where it is given that, for the input. */
static void call(kw_mutant_copy *copy) {
  copy->args[4].u.b = false;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "elu_backward";
  mutant->call = call;
}
