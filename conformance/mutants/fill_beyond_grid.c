/* SPDX-License-Identifier: Apache-2.0
 *
 * A fill is a kernel of an item for each pattern, in 65,535 blocks of 256 at most.
 */
#include "mutant.h"

static kw_status fill(void *device, void *stream, kw_mem mem, uint64_t offset, uint64_t size, const void *pattern,
                      uint32_t pattern_size) {
  const uint64_t most = UINT64_C(65535) * 256 * pattern_size;
  return kw_mutant_real.memory.fill(device, stream, mem, offset, size < most ? size : most, pattern, pattern_size);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->memory.fill = fill;
}
