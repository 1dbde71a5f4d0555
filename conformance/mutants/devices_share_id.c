/* SPDX-License-Identifier: Apache-2.0
 *
 * Both devices have one stable id.
 */
#include "mutant_two.h"

#include <string.h>

static kw_status info(void *plugin, uint32_t index, kw_device_info *out_info) {
  (void)index;
  kw_status status = kw_mutant_real.device.info(plugin, 0, out_info);
  if (status == KW_OK) strcpy(out_info->stable_id, "mutant:one");
  return status;
}

void kw_mutant_change(kw_mutant *mutant) {
  kw_mutant_two_devices(mutant);
  mutant->device.info = info;
}
