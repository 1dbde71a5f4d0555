/* SPDX-License-Identifier: Apache-2.0
 *
 * add.Tensor uses a workspace, from the start of the memory that it lies in.
 */
#include "mutant.h"

#include <string.h>

enum { SIZE = 64 };

static kw_status workspace_size(const kw_call *call, uint64_t *out_size) {
  (void)call;
  *out_size = SIZE;
  return KW_OK;
}

static kw_status launch(const kw_call *call) {
  const kw_status status = kw_mutant_run_real(call);
  memset(call->workspace, 0, SIZE);
  return status;
}

static void kernel(kw_kernel_desc *kernel) {
  kernel->workspace_size = workspace_size;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "add.Tensor";
  mutant->launch = launch;
  mutant->kernel = kernel;
}
