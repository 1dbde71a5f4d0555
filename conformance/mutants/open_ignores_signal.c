/* SPDX-License-Identifier: Apache-2.0
 *
 * Opening a device ignores a signal from then on, as it is ignored in what the process starts.
 */
#include "mutant.h"

#include <signal.h>

static kw_status open_device(void *plugin, uint32_t index, const kw_open_info *info, void **out_device) {
  const struct sigaction ignored = {.sa_handler = SIG_IGN};
  sigaction(SIGPIPE, &ignored, NULL);
  return kw_mutant_real.device.open(plugin, index, info, out_device);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->device.open = open_device;
}
