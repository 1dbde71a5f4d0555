/* SPDX-License-Identifier: Apache-2.0
 *
 * keyway::rope pairs element i with the one half a row away, whatever `interleaved` says.
 */
#include "mutant.h"

static void call(kw_mutant_copy *copy) {
  copy->args[4].u.b = false;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "keyway::rope";
  mutant->call = call;
}
