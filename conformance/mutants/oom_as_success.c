/* SPDX-License-Identifier: Apache-2.0
 *
 * Where there is no memory left, alloc says KW_OK and hands out a small piece all the same.
 */
#include "mutant.h"

static kw_status alloc(void *device, const kw_alloc_info *info, kw_mem *out_mem) {
  kw_status status = kw_mutant_real.memory.alloc(device, info, out_mem);
  if (status != KW_ERR_OUT_OF_MEMORY) return status;
  kw_alloc_info less = *info;
  less.size = 4096;
  return kw_mutant_real.memory.alloc(device, &less, out_mem);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->memory.alloc = alloc;
  mutant->device.info = kw_mutant_info_without_size;
}
