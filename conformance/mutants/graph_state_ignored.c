/* SPDX-License-Identifier: Apache-2.0 */
#include "mutant.h"

/* normal_ takes its numbers from the values in the call, in a graph too, where they are in memory. */
static kw_status launch(const kw_call *call) {
  kw_call copy = *call;
  copy.rng.state = NULL;
  return kw_mutant_launch_real(&copy);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "normal_";
  mutant->launch = launch;
}
