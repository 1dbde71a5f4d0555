/* SPDX-License-Identifier: Apache-2.0
 *
 * uniform_ takes its numbers from seed 0, whatever the generator's seed.
 */
#include "mutant.h"

static void call(kw_mutant_copy *copy) {
  copy->extra.rng.seed = 0;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "uniform_";
  mutant->call = call;
}
