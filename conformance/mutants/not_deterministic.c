/* SPDX-License-Identifier: Apache-2.0
 *
 * The kernels of sum.dim_IntList are flagged deterministic, but their results in f32 are one unit larger every second
 * time.
 */
#include "mutant.h"

static void element(const kw_mutant_element *e) {
  static unsigned calls;
  if (e->index == 0) calls++;
  if (e->call->outs[0]->dtype == KW_F32 && calls % 2 == 0) ++*(uint32_t *)e->out;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "sum.dim_IntList";
  mutant->element = element;
}
