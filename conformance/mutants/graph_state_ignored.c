/* SPDX-License-Identifier: Apache-2.0
 *
 * normal_ takes seed and offset from the call's own values in a graph too, where they stand in memory.
 */
#include "mutant.h"

static void call(kw_mutant_copy *copy) {
  copy->extra.rng.state = NULL;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "normal_";
  mutant->call = call;
}
