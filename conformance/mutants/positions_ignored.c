/* SPDX-License-Identifier: Apache-2.0 */
#include "mutant.h"

/* keyway::rope takes a row's number for its position. */
static kw_status launch(const kw_call *call) {
  kw_mutant_copy copy;
  kw_mutant_copy_call(call, &copy);
  copy.args[3].tag = KW_TAG_NONE;
  return kw_mutant_launch_real(&copy.call);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "keyway::rope";
  mutant->launch = launch;
}
