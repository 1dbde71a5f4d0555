/* SPDX-License-Identifier: Apache-2.0
 *
 * bernoulli_ gives 1 where its uniform number u is at most p, instead of below p: u is a multiple of 2^-24, so that p
 * grows by as much.
 */
#include "mutant.h"

static void call(kw_mutant_copy *copy) {
  copy->args[1].u.f += 0x1p-24;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "bernoulli_.float";
  mutant->call = call;
}
