/* SPDX-License-Identifier: Apache-2.0
 *
 * No allocation of more than 64 MiB goes well, and device.info does not say so. After pocl issue 2005: allocations fail
 * below CL_DEVICE_MAX_MEM_ALLOC_SIZE.
 */
#include "mutant_limit.h"

static kw_status alloc(void *device, const kw_alloc_info *info, kw_mem *out_mem) {
  if (info->size <= KW_MUTANT_LIMIT / 4) return kw_mutant_real.memory.alloc(device, info, out_mem);
  return kw_mutant_host->set_error(kw_mutant_host->ctx, KW_ERR_OUT_OF_MEMORY, "out of memory");
}

void kw_mutant_change(kw_mutant *mutant) {
  kw_mutant_limit_memory(mutant);
  mutant->memory.alloc = alloc;
}
