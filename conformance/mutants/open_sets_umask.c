/* SPDX-License-Identifier: Apache-2.0
 *
 * Opening the device sets the umask for a cache file, and leaves it so.
 */
#include "mutant.h"

#include <sys/stat.h>

static kw_status open_device(void *plugin, uint32_t index, const kw_open_info *info, void **out_device) {
  umask(077);
  return kw_mutant_real.device.open(plugin, index, info, out_device);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->device.open = open_device;
}
