/* SPDX-License-Identifier: Apache-2.0
 *
 * keyway::attention_paged reads all keys and values of a sequence from its first page.
 */
#include "mutant.h"

static void call(kw_mutant_copy *copy) {
  copy->arg_tensors[3].strides[1] = 0;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "keyway::attention_paged";
  mutant->call = call;
}
