/* SPDX-License-Identifier: Apache-2.0
 *
 * normal_ takes seed and offset from the call's own values in a graph too, where they stand in memory.
 */
#include "mutant.h"

static kw_status launch(const kw_call *call) {
  kw_call copy = *call;
  copy.rng.state = NULL;
  return kw_mutant_launch_real(&copy);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "normal_";
  mutant->launch = launch;
}
