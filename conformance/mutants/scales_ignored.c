/* SPDX-License-Identifier: Apache-2.0 */
#include "mutant.h"

/* upsample_bicubic2d goes by the sizes where scales are given. */
static kw_status launch(const kw_call *call) {
  kw_mutant_copy copy;
  kw_mutant_copy_call(call, &copy);
  copy.args[3] = copy.args[4] = (kw_value){.tag = KW_TAG_NONE};
  return kw_mutant_launch_real(&copy.call);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "upsample_bicubic2d";
  mutant->launch = launch;
}
