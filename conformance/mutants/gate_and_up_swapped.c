/* SPDX-License-Identifier: Apache-2.0
 *
 * keyway::swiglu takes gate for up and up for gate.
 */
#include "mutant.h"

static void call(kw_mutant_copy *copy) {
  kw_value gate = copy->args[0];
  copy->args[0] = copy->args[1];
  copy->args[1] = gate;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "keyway::swiglu";
  mutant->call = call;
}
