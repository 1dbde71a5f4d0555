/* SPDX-License-Identifier: Apache-2.0
 *
 * Opened without options, the device has those that it was opened with before.
 */
#include "mutant.h"

#include <stdio.h>

static kw_status open_device(void *plugin, uint32_t index, const kw_open_info *info, void **out_device) {
  static char value[64];
  const kw_option last = {"memory_limit", value};
  kw_open_info again = *info;
  if (info->option_count == 0 && value[0]) {
    again.option_count = 1;
    again.options = &last;
  }
  kw_status status = kw_mutant_real.device.open(plugin, index, &again, out_device);
  if (status == KW_OK && info->option_count > 0) snprintf(value, sizeof value, "%s", info->options[0].value);
  return status;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->device.open = open_device;
}
