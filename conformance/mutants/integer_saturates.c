/* SPDX-License-Identifier: Apache-2.0
 *
 * add.Tensor of i32 saturates instead of wrapping.
 */
#include "mutant.h"

static void element(const kw_mutant_element *e) {
  if (e->call->outs[0]->dtype != KW_I32 || e->call->args[2].u.i != 1) return;
  if (e->call->args[0].u.tensor->dtype != KW_I32 || e->call->args[1].u.tensor->dtype != KW_I32) return;
  int64_t sum = (int64_t) * (const int32_t *)e->in[0] + *(const int32_t *)e->in[1];
  *(int32_t *)e->out = sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : (int32_t)sum;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "add.Tensor";
  mutant->element = element;
}
