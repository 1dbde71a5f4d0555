/* SPDX-License-Identifier: Apache-2.0
 *
 * Suite soak: numbers of 31, 32 and 63 bits, which no test comes to by counting. A plugin that has the option
 * "first_number" begins to count there.
 */
#include "soak.h"

#include <inttypes.h>
#include <stdio.h>

enum { MARGIN = 200, COUNT = 500 }; /* numbers before the one where it shows; objects of each kind */

#define OPTION "first_number"

static bool has_option(void) {
  kw_plugin_report report = {.struct_size = sizeof report};
  KW_CHECK_OK(kw_plugin_get_report(kw_test_entry().plugin, &report));
  for (uint32_t i = 0; i < report.option_count; i++) {
    if (report.options[i]->place == KW_OPTION_OPEN && strcmp(report.options[i]->key, OPTION) == 0) return true;
  }
  return false;
}

static void close_device(void) {
  KW_CHECK_OK(kw_device_close(kw_contract.device));
  kw_contract.device = NULL;
}

/* False: the plugin does not count that far. */
static bool open_at(uint64_t first) {
  char value[24];
  const kw_option option = {OPTION, value};
  snprintf(value, sizeof value, "%" PRIu64, first);
  kw_status status = kw_device_open_with(kw_contract.device_name, &option, 1, &kw_contract.device);
  if (status == KW_ERR_INVALID_ARGUMENT) return false;
  KW_CHECK(status == KW_OK, "opening %s with " OPTION "=%s gave %s: %s", kw_contract.device_name, value,
           kw_status_name(status), kw_error_message());
  return true;
}

/* Opened anew for each kind of object, so that all are counted over the number where it shows. */
void kw_contract_soak_first_number(void **state) {
  (void)state;
  static const uint64_t places[] = {UINT64_C(1) << 15, UINT64_C(1) << 16, UINT64_C(1) << 31, UINT64_C(1) << 32,
                                    UINT64_C(1) << 63};
  static void (*const kinds[])(uint64_t first, uint64_t count) = {
      kw_soak_launches, kw_soak_copies, kw_soak_host_functions, kw_soak_graph_launches, kw_soak_streams};
  if (!has_option()) kw_test_skip("the plugin has no option " OPTION);
  const bool events = kw_device_native(kw_contract.device) & KW_NATIVE_EVENTS;
  for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
    const uint64_t first = places[i] - MARGIN;
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0] + events; k++) {
      close_device();
      const bool there = open_at(first);
      if (there && k < sizeof kinds / sizeof kinds[0]) kinds[k](first, COUNT);
      if (there && k == sizeof kinds / sizeof kinds[0]) kw_soak_records(first, COUNT);
      if (there) close_device();
      KW_CHECK_OK(kw_device_open(kw_contract.device_name, &kw_contract.device));
    }
  }
}
