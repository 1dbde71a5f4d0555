/* SPDX-License-Identifier: Apache-2.0
 *
 * sqrt reads its input from the start of the memory that holds it.
 */
#include "mutant.h"

static void call(kw_mutant_copy *copy) {
  copy->arg_tensors[0].offset = 0;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "sqrt";
  mutant->call = call;
}
