/* SPDX-License-Identifier: Apache-2.0
 *
 * An option cannot be given as what it is by itself.
 */
#include "mutant.h"

static kw_status open_device(void *plugin, uint32_t index, const kw_open_info *info, void **out_device) {
  if (info->option_count > 0)
    return kw_mutant_host->set_error(kw_mutant_host->ctx, KW_ERR_INVALID_ARGUMENT, "memory_limit is out of range");
  return kw_mutant_real.device.open(plugin, index, info, out_device);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->device.open = open_device;
}
