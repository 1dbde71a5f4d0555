/* SPDX-License-Identifier: Apache-2.0
 *
 * Two devices by opening the cpu plugin's one twice.
 */
#include "mutant_two.h"

#include <stdatomic.h>
#include <string.h>

static _Atomic(void *) devices[2];

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

static kw_status open_device(void *plugin, uint32_t index, const kw_open_info *given, void **out_device) {
  kw_status status = kw_mutant_real.device.open(plugin, 0, given, out_device);
  if (status == KW_OK) atomic_store(&devices[index], *out_device);
  return status;
}

static kw_status close_device(void *device) {
  for (int i = 0; i < 2; i++) {
    void *of = device;
    atomic_compare_exchange_strong(&devices[i], &of, NULL);
  }
  return kw_mutant_real.device.close(device);
}

static kw_status attribute(void *plugin, uint32_t index, const char *key, kw_attribute *out_value) {
  (void)index;
  return kw_mutant_real.device.attribute(plugin, 0, key, out_value);
}

static kw_status copy_peer(void *device, void *stream, void *src_device, const kw_copy_info *copy) {
  (void)src_device; /* memory is the host's */
  return kw_mutant_real.memory.copy(device, stream, copy);
}

void *kw_mutant_device(uint32_t index) {
  return atomic_load(&devices[index]);
}

void kw_mutant_two_devices(kw_mutant *mutant) {
  mutant->device.count = count;
  mutant->device.info = info;
  mutant->device.open = open_device;
  mutant->device.close = close_device;
  mutant->device.attribute = attribute;
  mutant->memory.copy_peer = copy_peer;
}
