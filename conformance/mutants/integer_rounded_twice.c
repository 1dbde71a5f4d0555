/* SPDX-License-Identifier: Apache-2.0
 *
 * copy_ of i64 into f32 goes by f64, and so rounds what is beyond 2^53 twice.
 */
#include "mutant.h"

static void element(const kw_mutant_element *e) {
  if (e->call->outs[0]->dtype != KW_F32 || e->call->args[1].u.tensor->dtype != KW_I64 || !e->in[1]) return;
  *(float *)e->out = (float)(double)*(const int64_t *)e->in[1];
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "copy_";
  mutant->element = element;
}
