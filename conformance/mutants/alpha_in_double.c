/* SPDX-License-Identifier: Apache-2.0
 *
 * add.Tensor takes an alpha that is a whole number through a double, which holds 53 bits of it.
 */
#include "mutant_double.h"

static void call(kw_mutant_copy *copy) {
  kw_mutant_round_to_double(copy, 2);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "add.Tensor";
  mutant->call = call;
}
