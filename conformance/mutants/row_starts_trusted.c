/* SPDX-License-Identifier: Apache-2.0
 *
 * bsr_linear reports no error for indices that are out of range or out of order.
 */
#include "mutant.h"

static void call(kw_mutant_copy *copy) {
  copy->extra.error_mem = NULL;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "keyway::bsr_linear";
  mutant->call = call;
}
