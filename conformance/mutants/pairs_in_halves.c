/* SPDX-License-Identifier: Apache-2.0 */
#include "mutant.h"

/* keyway::rope pairs element i with the one half a row away, whatever the call says. */
static void call(kw_mutant_copy *copy) {
  copy->args[4].u.b = false;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "keyway::rope";
  mutant->call = call;
}
