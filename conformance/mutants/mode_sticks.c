/* SPDX-License-Identifier: Apache-2.0
 *
 * Once a call of mm has allowed tf32, all later ones get it. After PyTorch pull request 185236: flags of precision that
 * a test had set leaked into whatever ran after it in the same process.
 */
#include "mutant_product.h"

#include <stdatomic.h>

static kw_status launch(const kw_call *call) {
  static atomic_bool lowered;
  const bool low = atomic_load(&lowered);
  if (call->math_mode != KW_MATH_HIGHEST) atomic_store(&lowered, true);
  return low && call->math_mode == KW_MATH_HIGHEST ? kw_mutant_run_cut(call, 10) : kw_mutant_launch_real(call);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "mm";
  mutant->launch = launch;
}
