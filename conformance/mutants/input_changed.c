/* SPDX-License-Identifier: Apache-2.0
 *
 * mul.Tensor changes the first element of its first input.
 */
#include "mutant.h"

static void element(const kw_mutant_element *e) {
  if (e->index == 0) *(unsigned char *)kw_mutant_at(e->call->args[0].u.tensor, 0) ^= 1;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "mul.Tensor";
  mutant->element = element;
}
