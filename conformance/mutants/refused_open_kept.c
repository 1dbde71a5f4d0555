/* SPDX-License-Identifier: Apache-2.0
 *
 * An opening that is refused leaves what was made for it before its options were looked at.
 */
#include "mutant.h"

static kw_status open_device(void *plugin, uint32_t index, const kw_open_info *info, void **out_device) {
  const kw_status status = kw_mutant_real.device.open(plugin, index, info, out_device);
  if (status != KW_OK) kw_mutant_lose_memory(4096);
  return status;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->device.open = open_device;
}
