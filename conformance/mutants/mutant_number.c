/* SPDX-License-Identifier: Apache-2.0
 *
 * A plugin that numbers what it does.
 */
#include "mutant_number.h"

#include <stdatomic.h>
#include <string.h>

static const kw_option_desc first_number = {.struct_size = sizeof(kw_option_desc),
                                            .place = KW_OPTION_OPEN,
                                            .key = "first_number",
                                            .value = "0",
                                            .text = "where the device begins to count, for tests"};
static atomic_uint_least64_t next;

uint64_t kw_mutant_next_number(void) {
  return atomic_fetch_add(&next, 1);
}

static kw_status open_device(void *plugin, uint32_t index, const kw_open_info *info, void **out_device) {
  uint64_t first = 0;
  const char *value = kw_option_value(info->options, info->option_count, &first_number);
  if (!kw_option_number(value, 0, UINT64_MAX, &first)) {
    return kw_mutant_host->set_error(kw_mutant_host->ctx, KW_ERR_INVALID_ARGUMENT,
                                     "the option first_number is a number from 0 on");
  }
  atomic_store(&next, first);
  return kw_mutant_real.device.open(plugin, index, info, out_device);
}

void kw_mutant_add_numbers(kw_mutant *mutant) {
  static const kw_option_desc *options[16];
  memcpy(options, mutant->desc.options, mutant->desc.option_count * sizeof *options);
  options[mutant->desc.option_count++] = &first_number;
  mutant->desc.options = options;
  mutant->device.open = open_device;
}
