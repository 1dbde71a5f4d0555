/* SPDX-License-Identifier: Apache-2.0
 *
 * A thread that frees host memory keeps the first piece for its next allocation. Nobody frees that when the thread
 * ends.
 */
#include "mutant.h"

#include <stdlib.h>

enum { KEPT_SIZE = 8192 };

static _Thread_local void *kept;

static kw_status alloc_host(void *device, uint64_t size, void **out_memory) {
  (void)device;
  const uint64_t room = size < KEPT_SIZE ? KEPT_SIZE : (size + 63) / 64 * 64;
  void *memory = room == KEPT_SIZE ? kept : NULL;
  if (memory) kept = NULL;
  if (!memory) memory = aligned_alloc(64, room);
  if (!memory) return kw_mutant_host->set_error(kw_mutant_host->ctx, KW_ERR_OUT_OF_MEMORY, "no host memory");
  *out_memory = memory;
  return KW_OK;
}

static kw_status free_host(void *device, void *memory) {
  (void)device;
  if (kept) {
    free(memory);
  } else {
    kept = memory;
  }
  return KW_OK;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->memory.alloc_host = alloc_host;
  mutant->memory.free_host = free_host;
}
