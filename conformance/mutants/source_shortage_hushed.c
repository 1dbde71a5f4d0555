/* SPDX-License-Identifier: Apache-2.0 */
#include "mutant.h"

/* masked_scatter tells nobody that its source has too few elements. */
static kw_status launch(const kw_call *call) {
  uint32_t unread = 0;
  kw_call copy = *call;
  copy.error_mem = &unread;
  copy.error_offset = 0;
  return kw_mutant_run_real(&copy);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "masked_scatter";
  mutant->launch = launch;
}
