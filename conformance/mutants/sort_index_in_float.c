/* SPDX-License-Identifier: Apache-2.0
 *
 * sort.stable gives the indices by way of floats: of more than 2^24 elements some come twice and others never. After
 * MXNet issue 7510: argsort of a large array lacked indices.
 */
#include "mutant.h"

static kw_status launch(const kw_call *call) {
  const kw_tensor_ref *indices = call->outs[1];
  kw_status status = kw_mutant_run_real(call);
  for (int64_t i = 0; indices && i < indices->numel && status == KW_OK; i++) {
    int64_t *index = kw_mutant_at(indices, i);
    *index = (int64_t)(float)*index;
  }
  return status;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "sort.stable";
  mutant->launch = launch;
}
