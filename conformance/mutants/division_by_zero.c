/* SPDX-License-Identifier: Apache-2.0
 *
 * div.Tensor_mode of i32 gives the dividend where the divisor is 0.
 */
#include "mutant.h"

static void element(const kw_mutant_element *e) {
  if (e->call->outs[0]->dtype != KW_I32 || e->call->args[1].u.tensor->dtype != KW_I32) return;
  if (*(const int32_t *)e->in[1] == 0) *(int32_t *)e->out = *(const int32_t *)e->in[0];
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "div.Tensor_mode";
  mutant->element = element;
}
