/* SPDX-License-Identifier: Apache-2.0
 *
 * copy_ takes its last argument under any tag.
 */
#include "mutant.h"

static kw_status can_implement(const kw_call *call) {
  kw_mutant_copy copy;
  kw_mutant_copy_call(call, &copy);
  copy.args[2].tag = KW_TAG_BOOL;
  return kw_call_is_known(&copy.call, (kw_dtype_mask){{KW_DTYPES_ANY, 0}}) ? KW_OK : KW_ERR_NOT_IMPLEMENTED;
}

static void kernel(kw_kernel_desc *kernel) {
  kernel->can_implement = can_implement;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "copy_";
  mutant->kernel = kernel;
}
