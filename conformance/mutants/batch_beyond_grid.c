/* SPDX-License-Identifier: Apache-2.0
 *
 * bmm of more than 65,535 matrices computes none of them and says that all is well. After flashinfer pull request 4536
 * (a batch beyond the limit of gridDim.z leaves the output untouched, and only stderr says so) and MagiAttention pull
 * request 40.
 */
#include "mutant.h"

static kw_status launch(const kw_call *call) {
  return kw_mutant_run_to(call, call->outs[0]->shape[0] > 65535 ? 0 : INT64_MAX);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "bmm";
  mutant->launch = launch;
}
