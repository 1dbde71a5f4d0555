/* SPDX-License-Identifier: Apache-2.0
 *
 * A kernel of mm that is flagged as tf32 cuts its operands down to 9 bits of mantissa instead of 10.
 */
#include "mutant_product.h"

static kw_status launch(const kw_call *call) {
  return kw_mutant_run_cut(call, 9);
}

static void add_kernel(kw_kernel_desc *kernel) {
  kw_mutant_add_kernel(kernel, "tf32", KW_MATH_TF32, launch);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "mm";
  mutant->kernel = add_kernel;
}
