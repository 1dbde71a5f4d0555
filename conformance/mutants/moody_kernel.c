/* SPDX-License-Identifier: Apache-2.0
 *
 * The kernel of add.Tensor accepts only every second call that can_implement is asked about.
 */
#include "mutant.h"

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
