/* SPDX-License-Identifier: Apache-2.0
 *
 * keyway::attention_decode skips sequences that are longer than the cache and reports no error.
 */
#include "mutant.h"

static void call(kw_mutant_copy *copy) {
  copy->extra.error_mem = NULL;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "keyway::attention_decode";
  mutant->call = call;
}
