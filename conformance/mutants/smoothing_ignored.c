/* SPDX-License-Identifier: Apache-2.0 */
#include "mutant.h"

/* cross_entropy_loss smoothes no labels. */
static void call(kw_mutant_copy *copy) {
  copy->args[5].u.f = 0;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "cross_entropy_loss";
  mutant->call = call;
}
