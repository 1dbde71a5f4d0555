/* SPDX-License-Identifier: Apache-2.0 */
#include "mutant.h"

#include <math.h>

/* _pdist_forward takes a very large p for infinity, whose powers leave the range. */
static void call(kw_mutant_copy *copy) {
  if (isinf(copy->args[1].u.f)) copy->args[1].u.f = 64;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "_pdist_forward";
  mutant->call = call;
}
