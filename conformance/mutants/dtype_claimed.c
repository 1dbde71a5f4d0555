/* SPDX-License-Identifier: Apache-2.0
 *
 * exp claims f64 for the kernel that computes in float.
 */
#include "mutant.h"

#include <string.h>

static void kernel(kw_kernel_desc *kernel) {
  if (strcmp(kernel->name, "reference") == 0) kernel->dtypes.bits[0] |= KW_DTYPE_BIT(KW_F64);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "exp";
  mutant->kernel = kernel;
}
