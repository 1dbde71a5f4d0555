/* SPDX-License-Identifier: Apache-2.0
 *
 * A fill with a pattern of 2 bytes is done in words of 4: of an odd number of elements the last one stays.
 */
#include "mutant.h"

static kw_status fill(void *device, void *stream, kw_mem mem, uint64_t offset, uint64_t size, const void *pattern,
                      uint32_t pattern_size) {
  if (pattern_size == 2 && size > 4) size &= ~UINT64_C(3);
  return kw_mutant_real.memory.fill(device, stream, mem, offset, size, pattern, pattern_size);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->memory.fill = fill;
}
