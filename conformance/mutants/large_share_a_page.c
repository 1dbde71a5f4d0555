/* SPDX-License-Identifier: Apache-2.0
 *
 * Large allocations come from an arena, in which each begins a page before the one before it ends.
 */
#include "mutant.h"

#include <stdatomic.h>

#define LARGE (UINT64_C(32) << 20)
#define ARENA (UINT64_C(2) << 30)
#define PAGE 4096

static _Atomic(char *) arena;
static atomic_uint_fast64_t used;

static bool is_in_arena(kw_mem mem) {
  const char *begin = atomic_load(&arena), *at = (const char *)mem;
  return begin && at >= begin && at < begin + ARENA;
}

static kw_status alloc(void *device, const kw_alloc_info *info, kw_mem *out_mem) {
  if (info->size <= LARGE || info->kind != KW_MEM_DEVICE) return kw_mutant_real.memory.alloc(device, info, out_mem);
  if (!atomic_load(&arena)) {
    kw_alloc_info whole = *info;
    kw_mem mem = NULL;
    whole.size = ARENA;
    kw_status status = kw_mutant_real.memory.alloc(device, &whole, &mem);
    if (status != KW_OK) return status;
    atomic_store(&arena, (char *)mem);
  }
  const uint64_t step = (info->size + PAGE - 1) / PAGE * PAGE - PAGE, at = atomic_fetch_add(&used, step);
  if (at + info->size > ARENA) return KW_ERR_OUT_OF_MEMORY;
  *out_mem = (kw_mem)(atomic_load(&arena) + at);
  return KW_OK;
}

static kw_status dealloc(void *device, kw_mem mem) {
  return is_in_arena(mem) ? KW_OK : kw_mutant_real.memory.dealloc(device, mem);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->memory.alloc = alloc;
  mutant->memory.dealloc = dealloc;
}
