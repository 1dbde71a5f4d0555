/* SPDX-License-Identifier: Apache-2.0
 *
 * masked_scatter reports no error where its source has too few elements.
 */
#include "mutant.h"

static kw_status launch(const kw_call *call) {
  uint32_t unread = 0;
  const kw_call_extra extra = {.struct_size = sizeof extra, .error_mem = &unread};
  kw_call copy = *call;
  copy.extra = &extra;
  return kw_mutant_run_real(&copy);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "masked_scatter";
  mutant->launch = launch;
}
