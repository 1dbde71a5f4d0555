/* SPDX-License-Identifier: Apache-2.0
 *
 * embedding copies rows of more than 32 elements eight at a time and leaves out a rest of four (NVIDIA/Fuser#3963:
 * sizes that the vector does not divide).
 */
#include "mutant.h"

#include <string.h>

static kw_status launch(const kw_call *call) {
  const kw_tensor_ref *out = call->outs[0];
  const int64_t width = out->rank ? out->shape[out->rank - 1] : 0;
  const kw_status status = kw_mutant_run_real(call);
  if (status != KW_OK || width <= 32 || width % 8 != 4) return status;
  for (int64_t i = 0; i < out->numel; i++) {
    if (i % width >= width - 4) memset(kw_mutant_at(out, i), 0xa5, kw_mutant_item_size(out->dtype));
  }
  return KW_OK;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "embedding";
  mutant->launch = launch;
}
