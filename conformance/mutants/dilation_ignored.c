/* SPDX-License-Identifier: Apache-2.0 */
#include "mutant.h"

/* convolution reads neighbouring elements whatever the dilation. */
static kw_status launch(const kw_call *call) {
  kw_mutant_copy copy;
  kw_mutant_copy_call(call, &copy);
  static const int64_t one = 1;
  copy.args[5].u.ints = &one;
  copy.args[5].count = 1;
  return kw_mutant_launch_real(&copy.call);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "convolution";
  mutant->launch = launch;
}
