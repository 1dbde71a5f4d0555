/* SPDX-License-Identifier: Apache-2.0
 *
 * A value that an option cannot have is reported as a defect of the plugin's.
 */
#include "mutant.h"

static kw_status open_device(void *plugin, uint32_t index, const kw_open_info *info, void **out_device) {
  kw_status status = kw_mutant_real.device.open(plugin, index, info, out_device);
  return status == KW_ERR_INVALID_ARGUMENT ? KW_ERR_INTERNAL : status;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->device.open = open_device;
}
