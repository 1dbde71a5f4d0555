/* SPDX-License-Identifier: Apache-2.0
 *
 * keyway::attention shows a query one key more to the left than the window has.
 */
#include "mutant.h"

static void call(kw_mutant_copy *copy) {
  if (copy->args[6].u.i >= 0 && copy->args[6].u.i < INT64_MAX) copy->args[6].u.i++;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "keyway::attention";
  mutant->call = call;
}
