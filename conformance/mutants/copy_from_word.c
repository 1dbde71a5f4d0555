/* SPDX-License-Identifier: Apache-2.0
 *
 * A copy of 64 KiB and more within the device, between places that are not aligned alike, begins at the word of 4 bytes
 * that its source is in.
 */
#include "mutant.h"

static kw_status copy(void *device, void *stream, const kw_copy_info *info) {
  kw_copy_info changed = *info;
  if (info->kind == KW_COPY_DEVICE_TO_DEVICE && info->size >= 65536 && (info->src_offset ^ info->dst_offset) % 4 != 0) {
    changed.src_offset &= ~UINT64_C(3);
  }
  return kw_mutant_real.memory.copy(device, stream, &changed);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->memory.copy = copy;
}
