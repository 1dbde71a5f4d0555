/* SPDX-License-Identifier: Apache-2.0
 *
 * random_ keeps seeds in 32 bits.
 */
#include "mutant.h"

static kw_status launch(const kw_call *call) {
  kw_call copy = *call;
  copy.rng.seed &= UINT32_MAX;
  return kw_mutant_launch_real(&copy);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "random_.from";
  mutant->launch = launch;
}
