/* SPDX-License-Identifier: Apache-2.0
 *
 * The device looks at its options when a stream is created, long after they were handed over.
 */
#include "mutant.h"

static const kw_option *kept;
static uint32_t count;

static kw_status open_device(void *plugin, uint32_t index, const kw_open_info *info, void **out_device) {
  kept = info->options;
  count = info->option_count;
  return kw_mutant_real.device.open(plugin, index, info, out_device);
}

static kw_status create(void *device, const kw_stream_info *info, void **out_stream) {
  for (uint32_t i = 0; i < count; i++) {
    const volatile char *value = kept[i].value;
    if (value[0] == '?') return KW_ERR_INVALID_ARGUMENT;
  }
  return kw_mutant_real.stream.create(device, info, out_stream);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->device.open = open_device;
  mutant->stream.create = create;
}
