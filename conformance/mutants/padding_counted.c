/* SPDX-License-Identifier: Apache-2.0 */
#include "mutant.h"

/* _embedding_bag takes padding for a row like all others. */
static void call(kw_mutant_copy *copy) {
  copy->args[8].u.i = -1;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "_embedding_bag";
  mutant->call = call;
}
