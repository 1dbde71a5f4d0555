/* SPDX-License-Identifier: Apache-2.0 */
#include "mutant.h"

/* random_ begins at the first block of its seed each time. */
static kw_status launch(const kw_call *call) {
  kw_call copy = *call;
  copy.rng.offset = 0;
  return kw_mutant_launch_real(&copy);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "random_.from";
  mutant->launch = launch;
}
