/* SPDX-License-Identifier: Apache-2.0
 *
 * An allocation is charged with the bytes that were asked for, and gives back what they were rounded to.
 */
#include "mutant_limit.h"

#include <stdatomic.h>

enum { LINE = 64 };

static atomic_uint_least64_t gained;

static kw_status alloc(void *device, const kw_alloc_info *info, kw_mem *out_mem) {
  const kw_status status = kw_mutant_real.memory.alloc(device, info, out_mem);
  if (status == KW_OK) atomic_fetch_add(&gained, (LINE - info->size % LINE) % LINE);
  return status;
}

static kw_status usage(void *device, uint64_t *out_free, uint64_t *out_total) {
  const kw_status status = kw_mutant_real.memory.usage(device, out_free, out_total);
  const uint64_t room = *out_total - *out_free, more = atomic_load(&gained);
  if (status == KW_OK) *out_free += more < room ? more : room;
  return status;
}

void kw_mutant_change(kw_mutant *mutant) {
  kw_mutant_limit_memory(mutant);
  mutant->memory.alloc = alloc;
  mutant->memory.usage = usage;
}
