/* SPDX-License-Identifier: Apache-2.0
 *
 * The offsets of copies are kept in an int: what lies beyond 2 GiB of an allocation is taken to lie before. After
 * BytePS pull request 302: tensors larger than the largest int were sent wrongly.
 */
#include "mutant.h"

static kw_status copy(void *device, void *stream, const kw_copy_info *info) {
  kw_copy_info changed = *info;
  changed.src_offset &= INT32_MAX;
  changed.dst_offset &= INT32_MAX;
  return kw_mutant_real.memory.copy(device, stream, &changed);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->memory.copy = copy;
}
