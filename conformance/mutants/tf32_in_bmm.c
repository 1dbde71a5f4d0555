/* SPDX-License-Identifier: Apache-2.0
 *
 * bmm computes in tf32 always, other products as they should. After Paddle pull request 78951: on XPU bmm alone had
 * tf32 for its default.
 */
#include "mutant_product.h"

static kw_status launch(const kw_call *call) {
  return kw_mutant_run_cut(call, 10);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "bmm";
  mutant->launch = launch;
}
