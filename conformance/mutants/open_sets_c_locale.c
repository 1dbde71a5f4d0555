/* SPDX-License-Identifier: Apache-2.0
 *
 * Opening a device sets the locale "C", in which numbers have points, and leaves it.
 */
#include "mutant.h"

#include <locale.h>

static kw_status open_device(void *plugin, uint32_t index, const kw_open_info *info, void **out_device) {
  setlocale(LC_ALL, "C");
  return kw_mutant_real.device.open(plugin, index, info, out_device);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->device.open = open_device;
}
