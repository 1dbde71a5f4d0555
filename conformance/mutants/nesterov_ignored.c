/* SPDX-License-Identifier: Apache-2.0
 *
 * _fused_sgd_ ignores nesterov.
 */
#include "mutant.h"

static void call(kw_mutant_copy *copy) {
  copy->args[7].u.b = false;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "_fused_sgd_";
  mutant->call = call;
}
