/* SPDX-License-Identifier: Apache-2.0
 *
 * clamp of f32 gives min, not max, where min > max.
 */
#include "mutant.h"

static void element(const kw_mutant_element *e) {
  const kw_value *min = &e->call->args[1], *max = &e->call->args[2];
  if (e->call->outs[0]->dtype != KW_F32 || min->kind != KW_SCALAR_F64 || max->kind != KW_SCALAR_F64) return;
  if (min->tag == KW_TAG_SCALAR && max->tag == KW_TAG_SCALAR && min->u.f > max->u.f) *(float *)e->out = (float)min->u.f;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "clamp";
  mutant->element = element;
}
