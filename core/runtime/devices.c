/* SPDX-License-Identifier: Apache-2.0
 *
 * The public functions about devices that may be an application's first call: they start the library and then ask the
 * rooms below.
 */
#include "base/error.h"
#include "base/struct.h"
#include "device/device_name.h"
#include "device/exit.h"
#include "device/open.h"
#include "runtime/runtime.h"

static kw_status open_named(const char *name, const kw_options *options, kw_device **out_device) {
  kw_plugin *plugin;
  uint32_t index;
  char shown[80];
  kw_status status = kw_device_name_resolve(name, &plugin, &index, shown);
  if (status == KW_ERR_NOT_FOUND && kw_runtime_try_again()) {
    status = kw_device_name_resolve(name, &plugin, &index, shown);
  }
  if (status != KW_OK) return status;
  bool first = false;
  status = kw_device_open_at(plugin, index, shown, options, &first, out_device);
  if (first) kw_exit_register();
  return status;
}

kw_status kw_device_open_with(const char *name, const kw_option *options, uint32_t option_count,
                              kw_device **out_device) {
  kw_status status = kw_runtime_start();
  if (status != KW_OK) return status;
  if (out_device == NULL) return kw_fail(KW_ERR_INVALID_ARGUMENT, "kw_device_open: argument out_device is NULL");
  kw_options all = {0};
  const char *of_name = kw_device_name_options(name);
  status = kw_options_add(&all, "kw_device_open_with", options, option_count);
  if (status == KW_OK && of_name != NULL) status = kw_options_parse(&all, name, of_name);
  if (status == KW_OK) status = open_named(name, &all, out_device);
  kw_options_free(&all);
  return status;
}

kw_status kw_device_open(const char *name, kw_device **out_device) {
  return kw_device_open_with(name, NULL, 0, out_device);
}

kw_status kw_device_count(uint32_t *out_count) {
  if (!out_count) return kw_fail(KW_ERR_INVALID_ARGUMENT, "kw_device_count: out_count is NULL");
  kw_status status = kw_runtime_start();
  return status == KW_OK ? kw_device_list_count(out_count) : status;
}

kw_status kw_device_get_entry(uint32_t index, kw_device_entry *out_entry) {
  kw_device_entry entry;
  kw_status status = kw_struct_check_given("kw_device_get_entry", out_entry);
  if (status == KW_OK) status = kw_runtime_start();
  if (status == KW_OK) status = kw_device_list_entry(index, &entry);
  if (status == KW_OK) kw_struct_write(out_entry, &entry, sizeof entry);
  return status;
}

kw_status kw_device_get_entry_attribute(uint32_t index, const char *key, kw_attribute *out_value) {
  kw_plugin *plugin;
  uint32_t of_plugin;
  if (key == NULL) return kw_fail(KW_ERR_INVALID_ARGUMENT, "kw_device_get_entry_attribute: argument key is NULL");
  kw_status status = kw_struct_check_given("kw_device_get_entry_attribute", out_value);
  if (status == KW_OK) status = kw_runtime_start();
  if (status == KW_OK) status = kw_device_list_at(index, &plugin, &of_plugin);
  if (status != KW_OK || kw_device_listed_attribute(plugin, of_plugin, key, out_value, &status)) return status;
  status = kw_runtime_open_plugin(plugin);
  return status == KW_OK ? kw_device_read_attribute(plugin, of_plugin, key, out_value) : status;
}

kw_status kw_device_rename(const char *from, const char *to) {
  kw_status status = kw_runtime_start();
  return status == KW_OK ? kw_device_name_change(from, to) : status;
}
