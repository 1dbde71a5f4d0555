/* SPDX-License-Identifier: Apache-2.0
 *
 * _amp_foreach_non_finite_check_and_unscale_ writes found_inf each time, and so clears what another call found.
 */
#include "mutant.h"

static kw_status launch(const kw_call *call) {
  kw_status status =
      kw_mutant_real.stream.synchronize(call->device, call->stream, KW_WAIT_FOREVER); /* what is changed is there */
  if (status != KW_OK) return status;
  *(float *)kw_mutant_at(call->args[1].u.tensor, 0) = 0;
  return kw_mutant_launch_real(call);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "_amp_foreach_non_finite_check_and_unscale_";
  mutant->launch = launch;
}
