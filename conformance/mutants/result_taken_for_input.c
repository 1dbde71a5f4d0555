/* SPDX-License-Identifier: Apache-2.0
 *
 * elu_backward with is_result reads the result as if it were the input.
 */
#include "mutant.h"

static void call(kw_mutant_copy *copy) {
  copy->args[4].u.b = false;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "elu_backward";
  mutant->call = call;
}
