/* SPDX-License-Identifier: Apache-2.0
 *
 * Opening a device goes to the folder for temporary files, and stays there.
 */
#include "mutant.h"

#include <unistd.h>

static kw_status open_device(void *plugin, uint32_t index, const kw_open_info *info, void **out_device) {
  if (chdir("/tmp") != 0) return KW_ERR_IO;
  return kw_mutant_real.device.open(plugin, index, info, out_device);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->device.open = open_device;
}
