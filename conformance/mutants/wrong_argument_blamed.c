/* SPDX-License-Identifier: Apache-2.0
 *
 * index_select blames the argument before the index.
 */
#include "mutant.h"

static kw_status launch(const kw_call *call) {
  kw_call copy = *call;
  copy.error_code--;
  return kw_mutant_launch_real(&copy);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "index_select";
  mutant->launch = launch;
}
