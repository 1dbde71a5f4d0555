/* SPDX-License-Identifier: Apache-2.0
 *
 * mm asks for a larger workspace every second time: for more threads than it asked for before.
 */
#include "mutant.h"

static kw_status workspace_size(const kw_call *call, uint64_t *out_size) {
  static unsigned asked;
  (void)call;
  *out_size = asked++ % 2 == 0 ? 4096 : 8192;
  return KW_OK;
}

static void kernel(kw_kernel_desc *kernel) {
  kernel->workspace_size = workspace_size;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "mm";
  mutant->kernel = kernel;
}
