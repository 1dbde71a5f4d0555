/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory for the host's end of copies is aligned to 16 bytes, as malloc has it, and not to 64. After pocl issue 604:
 * what the compiler of the host takes for aligned is not what the standard asks for.
 */
#include "mutant.h"

enum { SHIFT = 16 };

static kw_status alloc_host(void *device, uint64_t size, void **out_memory) {
  kw_status status = kw_mutant_real.memory.alloc_host(device, size + SHIFT, out_memory);
  if (status == KW_OK) *out_memory = (char *)*out_memory + SHIFT;
  return status;
}

static kw_status free_host(void *device, void *memory) {
  return kw_mutant_real.memory.free_host(device, (char *)memory - SHIFT);
}

void kw_mutant_change(kw_mutant *mutant) {
  if (!mutant->memory.alloc_host) return;
  mutant->memory.alloc_host = alloc_host;
  mutant->memory.free_host = free_host;
}
