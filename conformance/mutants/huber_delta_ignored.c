/* SPDX-License-Identifier: Apache-2.0 */
#include "mutant.h"

/* huber_loss takes its delta to be 1. */
static void call(kw_mutant_copy *copy) {
  copy->args[3] = (kw_value){.tag = KW_TAG_FLOAT, .u.f = 1};
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "huber_loss";
  mutant->call = call;
}
