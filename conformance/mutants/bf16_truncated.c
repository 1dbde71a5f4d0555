/* SPDX-License-Identifier: Apache-2.0
 *
 * copy_ from f32 to bf16 drops the lower half of the bits instead of rounding.
 */
#include "mutant.h"

#include <string.h>

static void element(const kw_mutant_element *e) {
  uint32_t bits;
  if (e->call->outs[0]->dtype != KW_BF16 || e->call->args[1].u.tensor->dtype != KW_F32) return;
  memcpy(&bits, e->in[1], sizeof bits);
  if ((bits & 0x7fffffff) <= 0x7f800000) *(uint16_t *)e->out = (uint16_t)(bits >> 16);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "copy_";
  mutant->element = element;
}
