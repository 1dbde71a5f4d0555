/* SPDX-License-Identifier: Apache-2.0
 *
 * index_add of floats adds the source without multiplying it by alpha.
 */
#include "mutant.h"

static void call(kw_mutant_copy *copy) {
  if (copy->args[4].kind == KW_SCALAR_F64) copy->args[4].u.f = 1;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "index_add";
  mutant->call = call;
}
