/* SPDX-License-Identifier: Apache-2.0
 *
 * searchsorted.Tensor takes the side of equal elements from `right` only, not from `side`.
 */
#include "mutant.h"

static void call(kw_mutant_copy *copy) {
  copy->args[4] = (kw_value){.tag = KW_TAG_NONE};
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "searchsorted.Tensor";
  mutant->call = call;
}
