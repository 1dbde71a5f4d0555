/* SPDX-License-Identifier: Apache-2.0
 *
 * eq.Tensor of f32 compares bits.
 */
#include "mutant.h"

#include <string.h>

static void element(const kw_mutant_element *e) {
  if (e->call->args[0].u.tensor->dtype != KW_F32 || e->call->args[1].u.tensor->dtype != KW_F32) return;
  *(bool *)e->out = memcmp(e->in[0], e->in[1], sizeof(float)) == 0;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "eq.Tensor";
  mutant->element = element;
}
