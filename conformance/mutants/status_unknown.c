/* SPDX-License-Identifier: Apache-2.0
 *
 * Where there is no memory left, alloc answers with a number that is no status.
 */
#include "mutant.h"

static kw_status alloc(void *device, const kw_alloc_info *info, kw_mem *out_mem) {
  kw_status status = kw_mutant_real.memory.alloc(device, info, out_mem);
  return status == KW_OK ? KW_OK : 4711;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->memory.alloc = alloc;
  mutant->device.info = kw_mutant_info_without_size;
}
