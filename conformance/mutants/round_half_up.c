/* SPDX-License-Identifier: Apache-2.0
 *
 * copy_ from f32 to f16 rounds halfway cases away from zero instead of to even.
 */
#include "mutant.h"

#include <string.h>

static void element(const kw_mutant_element *e) {
  uint32_t bits;
  if (e->call->outs[0]->dtype != KW_F16 || e->call->args[1].u.tensor->dtype != KW_F32) return;
  memcpy(&bits, e->in[1], sizeof bits);
  uint32_t exponent = bits >> 23 & 0xff; /* 113 to 141: normal numbers of f16 below its last binade */
  bool halfway = (bits & 0x1fff) == 0x1000 && exponent >= 113 && exponent <= 141;
  if (halfway)
    *(uint16_t *)e->out = (uint16_t)((bits >> 16 & 0x8000) | (((bits & 0x7fffffff) + 0x1000 - (112u << 23)) >> 13));
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "copy_";
  mutant->element = element;
}
