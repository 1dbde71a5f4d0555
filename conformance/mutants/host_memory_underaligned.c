/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory for the host's end of copies is aligned to 16 bytes, as malloc has it, and not to 64. After pocl issue 604:
 * what the compiler of the host takes for aligned is not what the standard asks for.
 */
#include "mutant.h"

#include <stdlib.h>

enum { SHIFT = 16 };

static kw_status alloc_host(void *device, uint64_t size, void **out_memory) {
  (void)device;
  char *memory = aligned_alloc(64, (size + SHIFT + 63) / 64 * 64);
  if (!memory) return KW_ERR_OUT_OF_MEMORY;
  *out_memory = memory + SHIFT;
  return KW_OK;
}

static kw_status free_host(void *device, void *memory) {
  (void)device;
  free((char *)memory - SHIFT);
  return KW_OK;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->memory.alloc_host = alloc_host;
  mutant->memory.free_host = free_host;
}
