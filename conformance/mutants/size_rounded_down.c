/* SPDX-License-Identifier: Apache-2.0
 *
 * Allocations are cut from one piece of memory with their sizes rounded down to 4 MiB, so that each one reaches into
 * the next.
 */
#include "mutant.h"

static kw_status alloc(void *device, const kw_alloc_info *info, kw_mem *out_mem) {
  static kw_mem arena;
  static uint64_t used;
  kw_alloc_info all = *info;
  uint64_t apart = info->size & ~((UINT64_C(4) << 20) - 1);
  if (apart == 0 || used + info->size > UINT64_C(1) << 30) return kw_mutant_real.memory.alloc(device, info, out_mem);
  all.size = UINT64_C(1) << 30;
  kw_status status = arena ? KW_OK : kw_mutant_real.memory.alloc(device, &all, &arena);
  if (status == KW_OK) *out_mem = (char *)arena + used;
  used += apart;
  return status;
}

/* Nothing is given back: the piece of memory is one allocation. */
static kw_status release(void *device, kw_mem mem) {
  (void)device;
  (void)mem;
  return KW_OK;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->memory.alloc = alloc;
  mutant->memory.dealloc = release;
}
