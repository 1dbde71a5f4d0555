/* SPDX-License-Identifier: Apache-2.0
 *
 * sum.dim_IntList of i32 adds in 32 bits, not in 64.
 */
#include "mutant.h"

static void element(const kw_mutant_element *e) {
  bool narrow = e->call->args[0].u.tensor->dtype == KW_I32 && e->call->outs[0]->dtype == KW_I64;
  if (narrow) *(int64_t *)e->out = (int32_t) * (int64_t *)e->out;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "sum.dim_IntList";
  mutant->element = element;
}
