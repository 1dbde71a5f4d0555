/* SPDX-License-Identifier: Apache-2.0
 *
 * nll_loss_forward ignores the weights of the classes.
 */
#include "mutant.h"

static void call(kw_mutant_copy *copy) {
  copy->args[2] = (kw_value){.tag = KW_TAG_NONE};
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "nll_loss_forward";
  mutant->call = call;
}
