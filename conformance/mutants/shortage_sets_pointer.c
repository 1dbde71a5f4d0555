/* SPDX-License-Identifier: Apache-2.0
 *
 * An allocation that is larger than what is free, though not than what there is, is refused and sets the pointer.
 */
#include "mutant_limit.h"

static kw_status alloc(void *device, const kw_alloc_info *info, kw_mem *out_mem) {
  kw_status status = kw_mutant_real.memory.alloc(device, info, out_mem);
  if (status == KW_ERR_OUT_OF_MEMORY && info->size <= KW_MUTANT_LIMIT) *out_mem = (kw_mem)(uintptr_t)16;
  return status;
}

void kw_mutant_change(kw_mutant *mutant) {
  kw_mutant_limit_memory(mutant);
  mutant->memory.alloc = alloc;
}
