/* SPDX-License-Identifier: Apache-2.0
 *
 * There are 16,384 pieces of memory at a time and no more, however small they are.
 */
#include "mutant.h"

#include <stdatomic.h>

static atomic_int live;

static kw_status alloc(void *device, const kw_alloc_info *info, kw_mem *out_mem) {
  if (atomic_fetch_add(&live, 1) >= 16384) {
    atomic_fetch_sub(&live, 1);
    return kw_mutant_host->set_error(kw_mutant_host->ctx, KW_ERR_OUT_OF_MEMORY, "out of memory");
  }
  kw_status status = kw_mutant_real.memory.alloc(device, info, out_mem);
  if (status != KW_OK) atomic_fetch_sub(&live, 1);
  return status;
}

static kw_status dealloc(void *device, kw_mem mem) {
  atomic_fetch_sub(&live, 1);
  return kw_mutant_real.memory.dealloc(device, mem);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->memory.alloc = alloc;
  mutant->memory.dealloc = dealloc;
}
