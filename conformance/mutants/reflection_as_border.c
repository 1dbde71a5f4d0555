/* SPDX-License-Identifier: Apache-2.0
 *
 * grid_sampler_2d repeats the border where it should reflect.
 */
#include "mutant.h"

static void call(kw_mutant_copy *copy) {
  if (copy->args[3].u.i == 2) copy->args[3].u.i = 1;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "grid_sampler_2d";
  mutant->call = call;
}
