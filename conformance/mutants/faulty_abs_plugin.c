/* SPDX-License-Identifier: Apache-2.0
 *
 * A device for run_test: the cpu plugin with an abs that goes wrong in a way of its own per dtype, from five elements
 * on. In i32 it is right, but starts a process that stays, of seven elements.
 */
#include "mutant.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define ENOUGH 5

static int *volatile nowhere;

static void element(const kw_mutant_element *e) {
  const kw_tensor_ref *out = e->call->outs[0];
  if (out->numel < ENOUGH) return;
  if (out->dtype == KW_I32 && out->numel == 7 && e->index == 0 && fork() == 0) {
    for (;;) pause();
  }
  if (out->dtype == KW_F64) *nowhere = 1;
  if (out->dtype == KW_F16) {
    fprintf(stderr, "abs: %d elements\nabs: that is too many\n", (int)out->numel);
    abort();
  }
  if (out->dtype == KW_F32 && e->index == ENOUGH - 1) *(float *)e->out = -1;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "abs";
  mutant->element = element;
}
