/* SPDX-License-Identifier: Apache-2.0
 *
 * What an allocation asks for is counted before it is refused, and stays counted. After wasmtime pull request 13579 and
 * Zig pull request 6197: a count that is raised where memory is short, and never lowered.
 */
#include "mutant_limit.h"

#include <stdatomic.h>

static atomic_uint_least64_t charged;

static uint64_t unused(void *device) {
  uint64_t left = 0, total = 0;
  kw_mutant_real.memory.usage(device, &left, &total);
  const uint64_t more = atomic_load(&charged);
  return more < left ? left - more : 0;
}

static kw_status alloc(void *device, const kw_alloc_info *info, kw_mem *out_mem) {
  if (info->size > KW_MUTANT_LIMIT || info->size <= unused(device)) {
    return kw_mutant_real.memory.alloc(device, info, out_mem);
  }
  atomic_fetch_add(&charged, info->size);
  return kw_mutant_host->set_error(kw_mutant_host->ctx, KW_ERR_OUT_OF_MEMORY, "out of memory");
}

static kw_status usage(void *device, uint64_t *out_free, uint64_t *out_total) {
  kw_status status = kw_mutant_real.memory.usage(device, out_free, out_total);
  *out_free = unused(device);
  return status;
}

void kw_mutant_change(kw_mutant *mutant) {
  kw_mutant_limit_memory(mutant);
  mutant->memory.alloc = alloc;
  mutant->memory.usage = usage;
}
