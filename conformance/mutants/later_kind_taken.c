/* SPDX-License-Identifier: Apache-2.0
 *
 * mul.Scalar takes a Scalar of any kind, also of one that it has never heard of.
 */
#include "mutant.h"

static kw_status can_implement(const kw_call *call) {
  kw_mutant_copy copy;
  kw_mutant_copy_call(call, &copy);
  copy.args[1].kind = KW_SCALAR_F64;
  return kw_call_is_known(&copy.call, (kw_dtype_mask){{KW_DTYPES_ANY, 0}}) ? KW_OK : KW_ERR_NOT_IMPLEMENTED;
}

static void kernel(kw_kernel_desc *kernel) {
  kernel->can_implement = can_implement;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "mul.Scalar";
  mutant->kernel = kernel;
}
