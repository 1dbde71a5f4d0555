/* SPDX-License-Identifier: Apache-2.0
 *
 * remainder.Tensor of i32 has the dividend's sign, as C's % does.
 */
#include "mutant.h"

static void element(const kw_mutant_element *e) {
  const kw_value *args = e->call->args;
  if (!e->in[0] || !e->in[1] || args[0].u.tensor->dtype != KW_I32 || args[1].u.tensor->dtype != KW_I32) return;
  int32_t a = *(const int32_t *)e->in[0], b = *(const int32_t *)e->in[1];
  if (b != 0 && b != -1) *(int32_t *)e->out = a % b;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "remainder.Tensor";
  mutant->element = element;
}
