/* SPDX-License-Identifier: Apache-2.0
 *
 * random_ begins at the first block of its seed each time.
 */
#include "mutant.h"

static void call(kw_mutant_copy *copy) {
  copy->extra.rng.offset = 0;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "random_.from";
  mutant->call = call;
}
