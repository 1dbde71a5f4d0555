/* SPDX-License-Identifier: Apache-2.0
 *
 * A fill with a pattern of 4 bytes or more begins at a multiple of 4, also where imported memory does not.
 */
#include "mutant.h"

static kw_status fill(void *device, void *stream, kw_mem mem, uint64_t offset, uint64_t size, const void *pattern,
                      uint32_t pattern_size) {
  const uintptr_t beside = pattern_size >= 4 ? ((uintptr_t)mem + (uintptr_t)offset) % 4 : 0;
  return kw_mutant_real.memory.fill(device, stream, (char *)mem - beside, offset, size, pattern, pattern_size);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->memory.fill = fill;
}
