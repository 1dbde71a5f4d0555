/* SPDX-License-Identifier: Apache-2.0
 *
 * addcmul takes its factor `value` to be 1.
 */
#include "mutant.h"

static void call(kw_mutant_copy *copy) {
  copy->args[3] = (kw_value){.tag = KW_TAG_SCALAR, .kind = KW_SCALAR_I64};
  copy->args[3].u.i = 1;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "addcmul";
  mutant->call = call;
}
