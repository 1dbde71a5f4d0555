/* SPDX-License-Identifier: Apache-2.0
 *
 * There are 1,024 pieces of host memory at a time and no more, however small they are.
 */
#include "mutant.h"

#include <stdatomic.h>
#include <stdlib.h>

static atomic_int live;

static kw_status alloc_host(void *device, uint64_t size, void **out_memory) {
  (void)device;
  if (atomic_fetch_add(&live, 1) < 1024 && posix_memalign(out_memory, 64, size) == 0) return KW_OK;
  atomic_fetch_sub(&live, 1);
  return kw_mutant_host->set_error(kw_mutant_host->ctx, KW_ERR_OUT_OF_MEMORY, "out of memory");
}

static kw_status free_host(void *device, void *memory) {
  (void)device;
  atomic_fetch_sub(&live, 1);
  free(memory);
  return KW_OK;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->memory.alloc_host = alloc_host;
  mutant->memory.free_host = free_host;
}
