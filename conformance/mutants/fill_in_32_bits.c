/* SPDX-License-Identifier: Apache-2.0
 *
 * A fill of 4 GiB or more fills what is left of its size in 32 bits. After PyTorch issue 161265: full gives zeros in
 * part of tensors beyond 4 GB, since Metal's fillBuffer stopped working for such lengths.
 */
#include "mutant.h"

static kw_status fill(void *device, void *stream, kw_mem mem, uint64_t offset, uint64_t size, const void *pattern,
                      uint32_t pattern_size) {
  size = (uint32_t)size;
  return size == 0 ? KW_OK : kw_mutant_real.memory.fill(device, stream, mem, offset, size, pattern, pattern_size);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->memory.fill = fill;
}
