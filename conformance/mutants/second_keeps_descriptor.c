/* SPDX-License-Identifier: Apache-2.0
 *
 * Each opening of the second device keeps a descriptor after it was closed.
 */
#include "mutant_two.h"

#include <fcntl.h>

static kw_status (*open_one)(void *plugin, uint32_t index, const kw_open_info *info, void **out_device);

static kw_status open_device(void *plugin, uint32_t index, const kw_open_info *info, void **out_device) {
  if (index == 1) (void)!open("/dev/null", O_RDONLY | O_CLOEXEC);
  return open_one(plugin, index, info, out_device);
}

void kw_mutant_change(kw_mutant *mutant) {
  kw_mutant_two_devices(mutant);
  open_one = mutant->device.open;
  mutant->device.open = open_device;
}
