/* SPDX-License-Identifier: Apache-2.0
 *
 * A kernel of mm reads what a later version might append to kw_call, whatever struct_size says.
 */
#include "mutant.h"

static kw_status launch(const kw_call *call) {
  const bool hint = *(const volatile uint64_t *)(call + 1) == 7;
  return hint ? KW_ERR_UNSUPPORTED : kw_mutant_launch_real(call);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "mm";
  mutant->launch = launch;
}
