/* SPDX-License-Identifier: Apache-2.0
 *
 * mm computes in tf32 whatever the call allows, in a kernel whose flags do not declare it.
 */
#include "mutant_product.h"

static kw_status launch(const kw_call *call) {
  return kw_mutant_run_cut(call, 10);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "mm";
  mutant->launch = launch;
}
