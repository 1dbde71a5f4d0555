/* SPDX-License-Identifier: Apache-2.0
 *
 * mm asks for a workspace of whole lines of 64 bytes, and leaves the last one out where it is not full; it uses all of
 * it.
 */
#include "mutant.h"

#include <string.h>

enum { LINE = 64 };

static uint64_t wanted(const kw_call *call) {
  return (uint64_t)call->args[1].u.tensor->numel * sizeof(float);
}

static kw_status workspace_size(const kw_call *call, uint64_t *out_size) {
  const uint64_t size = wanted(call);
  *out_size = size < LINE ? size : size / LINE * LINE;
  return KW_OK;
}

static kw_status launch(const kw_call *call) {
  const kw_status status = kw_mutant_run_real(call);
  memset(kw_mutant_memory_at(call->workspace, call->workspace_offset), 0, wanted(call));
  return status;
}

static void kernel(kw_kernel_desc *kernel) {
  kernel->workspace_size = workspace_size;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "mm";
  mutant->launch = launch;
  mutant->kernel = kernel;
}
