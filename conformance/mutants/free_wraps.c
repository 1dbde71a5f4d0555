/* SPDX-License-Identifier: Apache-2.0
 *
 * What is refused is charged all the same, and never given back; what is free is less than nothing then, as a large
 * number.
 */
#include "mutant_limit.h"

#include <stdatomic.h>

static atomic_uint_least64_t charged;

static kw_status alloc(void *device, const kw_alloc_info *info, kw_mem *out_mem) {
  const kw_status status = kw_mutant_real.memory.alloc(device, info, out_mem);
  if (status != KW_OK && info->size <= KW_MUTANT_LIMIT) atomic_fetch_add(&charged, info->size);
  return status;
}

static kw_status usage(void *device, uint64_t *out_free, uint64_t *out_total) {
  const kw_status status = kw_mutant_real.memory.usage(device, out_free, out_total);
  if (status == KW_OK) *out_free -= atomic_load(&charged);
  return status;
}

void kw_mutant_change(kw_mutant *mutant) {
  kw_mutant_limit_memory(mutant);
  mutant->memory.alloc = alloc;
  mutant->memory.usage = usage;
}
