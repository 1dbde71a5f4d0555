/* SPDX-License-Identifier: Apache-2.0
 *
 * index_select blames the argument before the index.
 */
#include "mutant.h"

static void call(kw_mutant_copy *copy) {
  copy->extra.error_code--;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "index_select";
  mutant->call = call;
}
