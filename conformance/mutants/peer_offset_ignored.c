/* SPDX-License-Identifier: Apache-2.0
 *
 * Two devices, and a copy from one to the other begins where the source's memory does, whatever the offset in it.
 */
#include "mutant.h"

#include <string.h>

static kw_status count(void *plugin, uint32_t *out_count) {
  (void)plugin;
  *out_count = 2;
  return KW_OK;
}

static kw_status info(void *plugin, uint32_t index, kw_device_info *out_info) {
  kw_status status = kw_mutant_real.device.info(plugin, 0, out_info);
  if (status == KW_OK && index == 1) strcpy(out_info->stable_id, "mutant:second");
  return status;
}

static kw_status open(void *plugin, uint32_t index, const kw_open_info *info, void **out_device) {
  (void)index;
  return kw_mutant_real.device.open(plugin, 0, info, out_device);
}

static kw_status copy_peer(void *device, void *stream, void *src_device, const kw_copy_info *copy) {
  kw_copy_info changed = *copy;
  (void)src_device; /* memory is the host's */
  changed.src_offset = 0;
  return kw_mutant_real.memory.copy(device, stream, &changed);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->device.count = count;
  mutant->device.info = info;
  mutant->device.open = open;
  mutant->memory.copy_peer = copy_peer;
}
