/* SPDX-License-Identifier: Apache-2.0
 *
 * The device can be opened 256 times, and then no more: contexts are not given back.
 */
#include "mutant.h"

#include <stdatomic.h>

static kw_status open_device(void *plugin, uint32_t index, const kw_open_info *info, void **out_device) {
  static atomic_int opens;
  if (atomic_fetch_add(&opens, 1) >= 256) {
    return kw_mutant_host->set_error(kw_mutant_host->ctx, KW_ERR_BUSY, "no context is left");
  }
  return kw_mutant_real.device.open(plugin, index, info, out_device);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->device.open = open_device;
}
