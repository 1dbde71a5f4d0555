/* SPDX-License-Identifier: Apache-2.0
 *
 * huber_loss takes delta to be 1.
 */
#include "mutant.h"

static void call(kw_mutant_copy *copy) {
  copy->args[3] = (kw_value){.tag = KW_TAG_FLOAT, .u.f = 1};
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "huber_loss";
  mutant->call = call;
}
