/* SPDX-License-Identifier: Apache-2.0
 *
 * uniform_ takes its numbers from seed 0, whatever the generator's seed.
 */
#include "mutant.h"

static kw_status launch(const kw_call *call) {
  kw_call copy = *call;
  copy.rng.seed = 0;
  return kw_mutant_launch_real(&copy);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "uniform_";
  mutant->launch = launch;
}
