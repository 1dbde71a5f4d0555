/* SPDX-License-Identifier: Apache-2.0
 *
 * gt.Tensor compares u8 as i8.
 */
#include "mutant.h"

static void element(const kw_mutant_element *e) {
  if (e->call->args[0].u.tensor->dtype != KW_U8 || e->call->args[1].u.tensor->dtype != KW_U8) return;
  *(bool *)e->out = *(const int8_t *)e->in[0] > *(const int8_t *)e->in[1];
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "gt.Tensor";
  mutant->element = element;
}
