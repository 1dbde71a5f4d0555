/* SPDX-License-Identifier: Apache-2.0
 *
 * No defect: the wrapper itself must be found conformant, and so must kernels that are as inexact as they declare.
 */
#include "mutant_product.h"

static kw_status launch_tf32(const kw_call *call) {
  return kw_mutant_run_cut(call, 10);
}

static kw_status launch_fast(const kw_call *call) {
  return kw_mutant_run_cut(call, 7);
}

static void add_kernels(kw_kernel_desc *kernel) {
  kw_mutant_add_kernel(kernel, "tf32", KW_MATH_TF32, launch_tf32);
  kw_mutant_add_kernel(kernel, "bf16", KW_MATH_FAST, launch_fast);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "mm";
  mutant->kernel = add_kernels;
}
