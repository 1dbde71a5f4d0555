/* SPDX-License-Identifier: Apache-2.0
 *
 * cross_entropy_loss ignores label_smoothing.
 */
#include "mutant.h"

static void call(kw_mutant_copy *copy) {
  copy->args[5].u.f = 0;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "cross_entropy_loss";
  mutant->call = call;
}
