/* SPDX-License-Identifier: Apache-2.0
 *
 * Little memory, by the cpu plugin's own option.
 */
#include "mutant_limit.h"

#include <stdio.h>

static kw_status info(void *plugin, uint32_t index, kw_device_info *out_info) {
  kw_status status = kw_mutant_real.device.info(plugin, index, out_info);
  if (status == KW_OK) out_info->total_memory = KW_MUTANT_LIMIT;
  return status;
}

static kw_status open_device(void *plugin, uint32_t index, const kw_open_info *given, void **out_device) {
  char value[32];
  snprintf(value, sizeof value, "%llu", (unsigned long long)KW_MUTANT_LIMIT);
  const kw_option limit = {"memory_limit", value};
  kw_open_info limited = *given;
  limited.option_count = 1;
  limited.options = &limit;
  return kw_mutant_real.device.open(plugin, index, &limited, out_device);
}

void kw_mutant_limit_memory(kw_mutant *mutant) {
  mutant->device.info = info;
  mutant->device.open = open_device;
}
