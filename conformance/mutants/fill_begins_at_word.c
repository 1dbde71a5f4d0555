/* SPDX-License-Identifier: Apache-2.0
 *
 * A fill of bytes begins at the word of 4 that its first byte is in.
 */
#include "mutant.h"

static kw_status fill(void *device, void *stream, kw_mem mem, uint64_t offset, uint64_t size, const void *pattern,
                      uint32_t pattern_size) {
  const uint64_t before = pattern_size == 1 && size >= 8 ? offset % 4 : 0;
  return kw_mutant_real.memory.fill(device, stream, mem, offset - before, size + before, pattern, pattern_size);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->memory.fill = fill;
}
