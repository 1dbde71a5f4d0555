/* SPDX-License-Identifier: Apache-2.0
 *
 * What usage says is free gets smaller by 4 KiB with each allocation, and no larger when it is freed. After CLBlast
 * issue 74: repeated calls used up all memory, in the driver and not in the library.
 */
#include "mutant.h"

#include <stdatomic.h>

static atomic_uint_least64_t lost;

static kw_status alloc(void *device, const kw_alloc_info *info, kw_mem *out_mem) {
  atomic_fetch_add(&lost, 4096);
  return kw_mutant_real.memory.alloc(device, info, out_mem);
}

static kw_status usage(void *device, uint64_t *out_free, uint64_t *out_total) {
  kw_status status = kw_mutant_real.memory.usage(device, out_free, out_total);
  const uint64_t drift = atomic_load(&lost);
  if (status == KW_OK) *out_free -= drift < *out_free ? drift : *out_free;
  return status;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->memory.alloc = alloc;
  mutant->memory.usage = usage;
}
