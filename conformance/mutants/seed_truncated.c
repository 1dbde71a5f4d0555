/* SPDX-License-Identifier: Apache-2.0
 *
 * random_ keeps seeds in 32 bits.
 */
#include "mutant.h"

static void call(kw_mutant_copy *copy) {
  copy->extra.rng.seed &= UINT32_MAX;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "random_.from";
  mutant->call = call;
}
