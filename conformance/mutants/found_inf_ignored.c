/* SPDX-License-Identifier: Apache-2.0
 *
 * _fused_adamw_ takes its step also where found_inf says not to.
 */
#include "mutant.h"

static void call(kw_mutant_copy *copy) {
  copy->args[14] = (kw_value){.tag = KW_TAG_NONE};
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "_fused_adamw_";
  mutant->call = call;
}
