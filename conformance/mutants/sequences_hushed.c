/* SPDX-License-Identifier: Apache-2.0
 *
 * keyway::attention_varlen stops at a sequence that ends before it begins, and reports no error.
 */
#include "mutant.h"

static void call(kw_mutant_copy *copy) {
  copy->extra.error_mem = NULL;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "keyway::attention_varlen";
  mutant->call = call;
}
