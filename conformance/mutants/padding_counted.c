/* SPDX-License-Identifier: Apache-2.0
 *
 * _embedding_bag counts rows of padding_idx like all others.
 */
#include "mutant.h"

static void call(kw_mutant_copy *copy) {
  copy->args[8].u.i = -1;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "_embedding_bag";
  mutant->call = call;
}
