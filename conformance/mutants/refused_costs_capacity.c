/* SPDX-License-Identifier: Apache-2.0
 *
 * Each allocation that is refused has reserved a MiB before, which nobody gives back, and memory.usage does not know.
 */
#include "mutant_limit.h"

#include <stdatomic.h>

static atomic_uint_least64_t reserved;

static kw_status alloc(void *device, const kw_alloc_info *info, kw_mem *out_mem) {
  uint64_t unused = 0, total = 0;
  kw_mutant_real.memory.usage(device, &unused, &total);
  if (info->size + atomic_load(&reserved) <= unused) return kw_mutant_real.memory.alloc(device, info, out_mem);
  if (info->size <= total) atomic_fetch_add(&reserved, 1 << 20);
  return kw_mutant_host->set_error(kw_mutant_host->ctx, KW_ERR_OUT_OF_MEMORY, "out of memory");
}

void kw_mutant_change(kw_mutant *mutant) {
  kw_mutant_limit_memory(mutant);
  mutant->memory.alloc = alloc;
}
