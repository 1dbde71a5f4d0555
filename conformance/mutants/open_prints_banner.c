/* SPDX-License-Identifier: Apache-2.0
 *
 * Opening a device prints the version of its driver, the first time.
 */
#include "mutant.h"

#include <stdatomic.h>
#include <stdio.h>

static kw_status open_device(void *plugin, uint32_t index, const kw_open_info *info, void **out_device) {
  static atomic_bool printed;
  if (!atomic_exchange(&printed, true)) puts("Example driver 1.0.0");
  return kw_mutant_real.device.open(plugin, index, info, out_device);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->device.open = open_device;
}
