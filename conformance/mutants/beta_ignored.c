/* SPDX-License-Identifier: Apache-2.0
 *
 * addmm ignores beta.
 */
#include "mutant.h"

static void call(kw_mutant_copy *copy) {
  copy->args[3] = (kw_value){.tag = KW_TAG_SCALAR, .kind = KW_SCALAR_I64, .u.i = 1};
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "addmm";
  mutant->call = call;
}
