/* SPDX-License-Identifier: Apache-2.0
 *
 * keyway::rope takes a row's index for its position.
 */
#include "mutant.h"

static void call(kw_mutant_copy *copy) {
  copy->args[3].tag = KW_TAG_NONE;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "keyway::rope";
  mutant->call = call;
}
