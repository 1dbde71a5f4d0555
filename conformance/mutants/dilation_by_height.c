/* SPDX-License-Identifier: Apache-2.0
 *
 * convolution goes a way without dilation where the first dimension has none, whatever the others have.
 */
#include "mutant.h"

static void call(kw_mutant_copy *copy) {
  if (copy->args[5].count > 1 && copy->args[5].u.ints[0] == 1) copy->args[5].count = 1;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "convolution";
  mutant->call = call;
}
