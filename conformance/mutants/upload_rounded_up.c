/* SPDX-License-Identifier: Apache-2.0
 *
 * A copy from the host of more than a page, whose ends both begin at a multiple of 16, is done in units of 16 bytes:
 * the last unit is copied whole.
 */
#include "mutant.h"

static kw_status copy(void *device, void *stream, const kw_copy_info *info) {
  kw_copy_info changed = *info;
  const bool is_aligned = (uintptr_t)info->src_host % 16 == 0 && info->dst_offset % 16 == 0;
  if (info->kind == KW_COPY_HOST_TO_DEVICE && info->size > 4096 && is_aligned && info->size % 16 > 8) {
    changed.size = (info->size + 15) / 16 * 16;
  }
  return kw_mutant_real.memory.copy(device, stream, &changed);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->memory.copy = copy;
}
