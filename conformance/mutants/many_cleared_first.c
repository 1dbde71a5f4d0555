/* SPDX-License-Identifier: Apache-2.0
 *
 * gelu of more elements than a pass takes clears its result before it reads, which shows where that is its argument.
 */
#include "mutant.h"

#include <string.h>

enum { A_PASS = 1 << 15 };

static kw_status launch(const kw_call *call) {
  const kw_tensor_ref *out = call->outs[0];
  if (out->numel <= A_PASS) return kw_mutant_launch_real(call);
  kw_status status = kw_mutant_real.stream.synchronize(call->device, call->stream, KW_WAIT_FOREVER);
  if (status != KW_OK) return status;
  for (int64_t i = 0; i < out->numel; i++) memset(kw_mutant_at(out, i), 0, kw_mutant_item_size(out->dtype));
  return kw_mutant_launch_real(call);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "gelu";
  mutant->launch = launch;
}
