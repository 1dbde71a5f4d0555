/* SPDX-License-Identifier: Apache-2.0 */
#include "mutant.h"

/* embedding_dense_backward has a gradient for the padding, too. */
static void call(kw_mutant_copy *copy) {
  copy->args[3].u.i = -1;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "embedding_dense_backward";
  mutant->call = call;
}
