/* SPDX-License-Identifier: Apache-2.0 */
#include "mutant.h"

/* keyway::attention_paged reads all of a sequence from its first page. */
static void call(kw_mutant_copy *copy) {
  copy->arg_tensors[3].strides[1] = 0;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "keyway::attention_paged";
  mutant->call = call;
}
