/* SPDX-License-Identifier: Apache-2.0
 *
 * bitwise_left_shift.Tensor of i32 looks at the low five bits of the shift only, as processors do.
 */
#include "mutant.h"

static void element(const kw_mutant_element *e) {
  const kw_value *args = e->call->args;
  if (!e->in[0] || !e->in[1] || args[0].u.tensor->dtype != KW_I32 || args[1].u.tensor->dtype != KW_I32) return;
  uint32_t a = *(const uint32_t *)e->in[0], by = *(const uint32_t *)e->in[1];
  *(uint32_t *)e->out = a << (by & 31);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "bitwise_left_shift.Tensor";
  mutant->element = element;
}
