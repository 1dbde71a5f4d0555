/* SPDX-License-Identifier: Apache-2.0 */
#include "mutant.h"

/* _fft_c2c always transforms forward. */
static kw_status launch(const kw_call *call) {
  kw_mutant_copy copy;
  kw_mutant_copy_call(call, &copy);
  copy.args[3].u.b = true;
  return kw_mutant_launch_real(&copy.call);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "_fft_c2c";
  mutant->launch = launch;
}
