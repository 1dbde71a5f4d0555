/* SPDX-License-Identifier: Apache-2.0 */
#include "mutant.h"

/* keyway::attention_paged reads all of a sequence from its first page. */
static kw_status launch(const kw_call *call) {
  kw_mutant_copy copy;
  kw_mutant_copy_call(call, &copy);
  copy.arg_tensors[3].strides[1] = 0;
  return kw_mutant_launch_real(&copy.call);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "keyway::attention_paged";
  mutant->launch = launch;
}
