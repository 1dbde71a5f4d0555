/* SPDX-License-Identifier: Apache-2.0
 *
 * _native_batch_norm_legit_no_training adds no eps to the running variance.
 */
#include "mutant.h"

static void call(kw_mutant_copy *copy) {
  copy->args[6].u.f = 0;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "_native_batch_norm_legit_no_training";
  mutant->call = call;
}
