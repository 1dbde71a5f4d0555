/* SPDX-License-Identifier: Apache-2.0
 *
 * An attribute of the vendor's own is known while the device is open, and no longer.
 */
#include "mutant.h"

#include <string.h>

static bool is_open;

static kw_status attribute(void *plugin, uint32_t index, const char *key, kw_attribute *out_value) {
  if (!is_open || strcmp(key, "com.example.tiles") != 0)
    return kw_mutant_real.device.attribute(plugin, index, key, out_value);
  out_value->type = KW_ATTRIBUTE_INT;
  out_value->u.i = 4;
  return KW_OK;
}

static kw_status open_device(void *plugin, uint32_t index, const kw_open_info *info, void **out_device) {
  const kw_status status = kw_mutant_real.device.open(plugin, index, info, out_device);
  if (status == KW_OK) is_open = true;
  return status;
}

static kw_status close_device(void *device) {
  is_open = false;
  return kw_mutant_real.device.close(device);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->device.attribute = attribute;
  mutant->device.open = open_device;
  mutant->device.close = close_device;
}
