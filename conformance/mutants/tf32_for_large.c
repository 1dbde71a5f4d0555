/* SPDX-License-Identifier: Apache-2.0
 *
 * mm computes in tf32 where 512 products and more are added up, whatever the call allows. After MLX issue 3860: f32
 * products are of the precision of tf32 by default, where the path for large ones is taken.
 */
#include "mutant_product.h"

static kw_status launch(const kw_call *call) {
  return call->args[0].u.tensor->shape[1] >= 512 ? kw_mutant_run_cut(call, 10) : kw_mutant_launch_real(call);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "mm";
  mutant->launch = launch;
}
