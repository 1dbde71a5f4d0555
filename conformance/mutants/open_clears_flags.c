/* SPDX-License-Identifier: Apache-2.0
 *
 * Opening a device clears the floating-point exceptions that the thread has raised, before arithmetic of its own.
 */
#include "mutant.h"

#include <fenv.h>

static kw_status open_device(void *plugin, uint32_t index, const kw_open_info *info, void **out_device) {
  fenv_t before;
  feholdexcept(&before);
  return kw_mutant_real.device.open(plugin, index, info, out_device);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->device.open = open_device;
}
