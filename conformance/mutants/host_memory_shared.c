/* SPDX-License-Identifier: Apache-2.0
 *
 * Every allocation of host memory gives the same memory.
 */
#include "mutant.h"

#include <stdlib.h>

static kw_status alloc_host(void *device, uint64_t size, void **out_memory) {
  static void *shared;
  (void)device, (void)size;
  if (!shared) shared = aligned_alloc(4096, 64 << 20);
  if (!shared) return KW_ERR_OUT_OF_MEMORY;
  *out_memory = shared;
  return KW_OK;
}

static kw_status free_host(void *device, void *memory) {
  (void)device, (void)memory;
  return KW_OK;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->memory.alloc_host = alloc_host;
  mutant->memory.free_host = free_host;
}
