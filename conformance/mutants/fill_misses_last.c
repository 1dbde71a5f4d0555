/* SPDX-License-Identifier: Apache-2.0
 *
 * A fill of more than 100,000 elements leaves the last as it was.
 */
#include "mutant.h"

#include <string.h>

static kw_status launch(const kw_call *call) {
  const kw_tensor_ref *tensor = call->outs[0];
  unsigned char before[16];
  if (tensor->numel <= 100000) return kw_mutant_launch_real(call);
  void *last = kw_mutant_at(tensor, tensor->numel - 1);
  kw_status status = kw_mutant_real.stream.synchronize(call->device, call->stream, KW_WAIT_FOREVER);
  memcpy(before, last, kw_mutant_item_size(tensor->dtype));
  if (status == KW_OK) status = kw_mutant_run_real(call);
  memcpy(last, before, kw_mutant_item_size(tensor->dtype));
  return status;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "fill_.Scalar";
  mutant->launch = launch;
}
