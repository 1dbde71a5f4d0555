/* SPDX-License-Identifier: Apache-2.0 */
#include "mutant.h"

/* sqrt reads its input from the start of the memory that it lies in. */
static kw_status launch(const kw_call *call) {
  kw_mutant_copy copy;
  kw_mutant_copy_call(call, &copy);
  copy.arg_tensors[0].offset = 0;
  return kw_mutant_launch_real(&copy.call);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "sqrt";
  mutant->launch = launch;
}
