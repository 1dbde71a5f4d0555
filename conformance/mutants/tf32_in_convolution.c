/* SPDX-License-Identifier: Apache-2.0
 *
 * Convolutions of f32 take no notice of the mode and compute in tf32. After PyTorch issue 100145 and 62954: products
 * and convolutions have a switch each, and turning one off leaves the other on.
 */
#include "mutant_product.h"

static kw_status launch(const kw_call *call) {
  return kw_mutant_run_cut(call, 10);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "convolution";
  mutant->launch = launch;
}
