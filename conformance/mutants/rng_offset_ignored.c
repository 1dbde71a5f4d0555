/* SPDX-License-Identifier: Apache-2.0
 *
 * random_ begins at the first block of its seed each time.
 */
#include "mutant.h"

static kw_status launch(const kw_call *call) {
  kw_call copy = *call;
  copy.rng.offset = 0;
  return kw_mutant_launch_real(&copy);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "random_.from";
  mutant->launch = launch;
}
