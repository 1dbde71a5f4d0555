/* SPDX-License-Identifier: Apache-2.0
 *
 * _pdist_forward computes p = infinity as p = 64, whose powers leave the range.
 */
#include "mutant.h"

#include <math.h>

static void call(kw_mutant_copy *copy) {
  if (isinf(copy->args[1].u.f)) copy->args[1].u.f = 64;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "_pdist_forward";
  mutant->call = call;
}
