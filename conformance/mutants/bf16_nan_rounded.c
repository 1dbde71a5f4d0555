/* SPDX-License-Identifier: Apache-2.0
 *
 * copy_ from f32 to bf16 rounds NaN like a number: where all bits of its payload are set it carries over, and the
 * result is zero.
 */
#include "mutant.h"

#include <string.h>

static void element(const kw_mutant_element *e) {
  uint32_t bits;
  if (e->call->outs[0]->dtype != KW_BF16 || e->call->args[1].u.tensor->dtype != KW_F32) return;
  memcpy(&bits, e->in[1], sizeof bits);
  if ((bits & 0x7fffffff) > 0x7f800000) *(uint16_t *)e->out = (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "copy_";
  mutant->element = element;
}
