/* SPDX-License-Identifier: Apache-2.0
 *
 * arange of i64 takes its start through a double, which holds 53 bits of it.
 */
#include "mutant_double.h"

static void call(kw_mutant_copy *copy) {
  kw_mutant_round_to_double(copy, 0);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "arange.start_step";
  mutant->call = call;
}
