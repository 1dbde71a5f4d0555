/* SPDX-License-Identifier: Apache-2.0
 *
 * embedding_dense_backward gives the row of padding_idx a gradient, too.
 */
#include "mutant.h"

static void call(kw_mutant_copy *copy) {
  copy->args[3].u.i = -1;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "embedding_dense_backward";
  mutant->call = call;
}
