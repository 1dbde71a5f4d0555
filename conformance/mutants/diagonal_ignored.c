/* SPDX-License-Identifier: Apache-2.0
 *
 * tril always keeps what is on the main diagonal and below it.
 */
#include "mutant.h"

static void call(kw_mutant_copy *copy) {
  copy->args[1].u.i = 0;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "tril";
  mutant->call = call;
}
