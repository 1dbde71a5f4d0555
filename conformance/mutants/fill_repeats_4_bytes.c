/* SPDX-License-Identifier: Apache-2.0
 *
 * Of a pattern of 8 bytes a fill repeats the first 4.
 */
#include "mutant.h"

static kw_status fill(void *device, void *stream, kw_mem mem, uint64_t offset, uint64_t size, const void *pattern,
                      uint32_t pattern_size) {
  if (pattern_size == 8) pattern_size = 4;
  return kw_mutant_real.memory.fill(device, stream, mem, offset, size, pattern, pattern_size);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->memory.fill = fill;
}
