/* SPDX-License-Identifier: Apache-2.0
 *
 * A refused allocation is printed to stderr.
 */
#include "mutant.h"

#include <stdio.h>

static kw_status alloc(void *device, const kw_alloc_info *info, kw_mem *out_mem) {
  kw_status status = kw_mutant_real.memory.alloc(device, info, out_mem);
  if (status == KW_ERR_OUT_OF_MEMORY) fprintf(stderr, "mutant: out of memory\n");
  return status;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->memory.alloc = alloc;
}
