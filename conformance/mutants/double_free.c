/* SPDX-License-Identifier: Apache-2.0
 *
 * Freeing memory frees it twice.
 */
#include "mutant.h"

static kw_status release(void *device, kw_mem mem) {
  kw_status status = kw_mutant_real.memory.dealloc(device, mem);
  return status == KW_OK ? kw_mutant_real.memory.dealloc(device, mem) : status;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->memory.dealloc = release;
}
