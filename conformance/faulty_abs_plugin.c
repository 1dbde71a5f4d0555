/* SPDX-License-Identifier: Apache-2.0
 *
 * A device for run_test: the cpu plugin with an abs that goes wrong in a way of its own per dtype, from five elements
 * on.
 */
#include "mutant.h"

#include <stdlib.h>

#define ENOUGH 5

static int *volatile nowhere;

static void element(const kw_mutant_element *e) {
  const kw_tensor_ref *out = e->call->outs[0];
  if (out->numel < ENOUGH) return;
  if (out->dtype == KW_F64) *nowhere = 1;
  if (out->dtype == KW_F16) abort();
  if (out->dtype == KW_F32 && e->index == ENOUGH - 1) *(float *)e->out = -1;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "abs";
  mutant->element = element;
}
