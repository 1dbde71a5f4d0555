/* SPDX-License-Identifier: Apache-2.0 */
#include "mutant.h"

/* bsr_linear tells of no index that is out of range or out of order. */
static void call(kw_mutant_copy *copy) {
  copy->call.error_mem = NULL;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "keyway::bsr_linear";
  mutant->call = call;
}
