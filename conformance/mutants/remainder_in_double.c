/* SPDX-License-Identifier: Apache-2.0
 *
 * remainder.Scalar of i64 takes its Scalar through a double, which holds 53 bits of it.
 */
#include "mutant_double.h"

static void call(kw_mutant_copy *copy) {
  kw_mutant_round_to_double(copy, 1);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "remainder.Scalar";
  mutant->call = call;
}
