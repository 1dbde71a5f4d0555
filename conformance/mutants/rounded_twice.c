/* SPDX-License-Identifier: Apache-2.0
 *
 * copy_ from f64 to bf16 rounds to f32 on the way.
 */
#include "mutant.h"

#include <string.h>

static void element(const kw_mutant_element *e) {
  if (e->call->outs[0]->dtype != KW_BF16 || e->call->args[1].u.tensor->dtype != KW_F64) return;
  float single = (float)*(const double *)e->in[1];
  uint32_t bits;
  memcpy(&bits, &single, sizeof bits);
  if ((bits & 0x7fffffff) <= 0x7f800000) *(uint16_t *)e->out = (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "copy_";
  mutant->element = element;
}
