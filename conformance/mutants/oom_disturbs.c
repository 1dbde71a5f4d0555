/* SPDX-License-Identifier: Apache-2.0
 *
 * An allocation that fails has begun to clear memory that somebody else has.
 */
#include "mutant.h"

#include <string.h>

static kw_mem newest;

static kw_status alloc(void *device, const kw_alloc_info *info, kw_mem *out_mem) {
  kw_status status = kw_mutant_real.memory.alloc(device, info, out_mem);
  if (status == KW_OK) newest = *out_mem;
  if (status == KW_ERR_OUT_OF_MEMORY && newest) memset(newest, 0, 64);
  return status;
}

static kw_status dealloc(void *device, kw_mem mem) {
  if (mem == newest) newest = NULL;
  return kw_mutant_real.memory.dealloc(device, mem);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->memory.alloc = alloc;
  mutant->memory.dealloc = dealloc;
  mutant->device.info = kw_mutant_info_without_size;
}
