/* SPDX-License-Identifier: Apache-2.0
 *
 * clone copies memory as it lies, whatever the strides, except from tensors in which elements repeat and to results
 * with gaps.
 */
#include "mutant.h"

#include <string.h>

static bool repeats(const kw_tensor_ref *tensor) {
  for (uint32_t d = 0; d < tensor->rank; d++) {
    if (tensor->strides[d] == 0 && tensor->shape[d] > 1) return true;
  }
  return false;
}

static kw_status launch(const kw_call *call) {
  const kw_tensor_ref *in = call->args[0].u.tensor, *out = call->outs[0];
  kw_status status = kw_mutant_real.stream.synchronize(call->device, call->stream, KW_WAIT_FOREVER);
  if (status != KW_OK || out->numel == 0) return status;
  uint64_t item = kw_mutant_item_size(out->dtype);
  if (repeats(in) || (uint64_t)out->numel * item != kw_mutant_extent(out)) {
    for (int64_t i = 0; i < out->numel; i++) memcpy(kw_mutant_at(out, i), kw_mutant_at(in, i), item);
  } else {
    memcpy(kw_mutant_at(out, 0), kw_mutant_at(in, 0), (size_t)out->numel * item);
  }
  return KW_OK;
}

/* Registers a kernel of clone, which the cpu plugin has none of, beside the one of copy_. */
static void kernel(kw_kernel_desc *copy) {
  kw_kernel_desc clone = *copy;
  clone.op = "clone";
  clone.known_args = 2;
  clone.launch = launch;
  (void)kw_mutant_host->register_kernel(kw_mutant_host->ctx, &clone);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "copy_";
  mutant->kernel = kernel;
}
