/* SPDX-License-Identifier: Apache-2.0
 *
 * gather skips indices that are out of range and reports no error.
 */
#include "mutant.h"

static kw_status launch(const kw_call *call) {
  kw_call copy = *call;
  copy.error_mem = NULL;
  return kw_mutant_launch_real(&copy);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "gather";
  mutant->launch = launch;
}
