/* SPDX-License-Identifier: Apache-2.0
 *
 * gather skips indices that are out of range and reports no error.
 */
#include "mutant.h"

static void call(kw_mutant_copy *copy) {
  copy->extra.error_mem = NULL;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "gather";
  mutant->call = call;
}
