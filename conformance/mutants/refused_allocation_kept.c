/* SPDX-License-Identifier: Apache-2.0
 *
 * An allocation that is refused leaves its entry behind.
 */
#include "mutant.h"

static kw_status alloc(void *device, const kw_alloc_info *info, kw_mem *out_mem) {
  kw_status status = kw_mutant_real.memory.alloc(device, info, out_mem);
  if (status == KW_ERR_OUT_OF_MEMORY) kw_mutant_lose_memory(512);
  return status;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->device.info = kw_mutant_info_without_size;
  mutant->memory.alloc = alloc;
}
