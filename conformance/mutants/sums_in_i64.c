/* SPDX-License-Identifier: Apache-2.0
 *
 * No mutant: of the integers sums and products take i64 alone, which is what sums of the others have as their key.
 */
#include "mutant.h"

#include <string.h>

static void narrow(kw_kernel_desc *kernel) {
  const uint64_t integers =
      KW_DTYPE_BIT(KW_BOOL) | KW_DTYPE_BIT(KW_U8) | KW_DTYPE_BIT(KW_I8) | KW_DTYPE_BIT(KW_I16) | KW_DTYPE_BIT(KW_I32);
  const bool is_sum =
      strncmp(kernel->op, "sum", 3) == 0 || strncmp(kernel->op, "prod", 4) == 0 || strncmp(kernel->op, "cum", 3) == 0;
  if (is_sum) kernel->dtypes.bits[0] &= ~integers;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "*";
  mutant->kernel = narrow;
}
