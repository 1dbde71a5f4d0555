/* SPDX-License-Identifier: Apache-2.0
 *
 * What add.Tensor prepares for a shape is kept when it is released. After PyTorch pull request 195153: a cache of
 * graphs by shape grew with every new length of a sequence, to 20 GB.
 */
#include "mutant.h"

#include <stdlib.h>
#include <string.h>

static kw_status prepare(const kw_call *call, void **out_prepared) {
  enum { PLAN = 1 << 14 };
  (void)call;
  *out_prepared = malloc(PLAN);
  if (*out_prepared) memset(*out_prepared, 1, PLAN);
  return *out_prepared ? KW_OK : KW_ERR_OUT_OF_MEMORY;
}

static void kernel(kw_kernel_desc *kernel) {
  kernel->prepare = prepare;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "add.Tensor";
  mutant->kernel = kernel;
}
