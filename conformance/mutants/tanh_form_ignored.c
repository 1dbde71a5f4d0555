/* SPDX-License-Identifier: Apache-2.0
 *
 * gelu_backward differentiates the exact form, whatever `approximate` says.
 */
#include "mutant.h"

static void call(kw_mutant_copy *copy) {
  copy->args[2].u.s = "none";
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "gelu_backward";
  mutant->call = call;
}
