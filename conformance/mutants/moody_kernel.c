/* SPDX-License-Identifier: Apache-2.0 */
#include "mutant.h"

/* The kernel of add.Tensor takes every second call that it is asked about. */
static kw_status can_implement(const kw_call *call) {
  static unsigned asked;
  (void)call;
  return asked++ % 2 == 0 ? KW_OK : KW_ERR_NOT_IMPLEMENTED;
}

static void kernel(kw_kernel_desc *kernel) {
  kernel->can_implement = can_implement;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "add.Tensor";
  mutant->kernel = kernel;
}
