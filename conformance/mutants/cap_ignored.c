/* SPDX-License-Identifier: Apache-2.0
 *
 * keyway::attention_decode does not cap scores.
 */
#include "mutant.h"

static void call(kw_mutant_copy *copy) {
  copy->args[5].u.f = 0;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "keyway::attention_decode";
  mutant->call = call;
}
