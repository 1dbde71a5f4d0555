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

kw_status kw_device_open(const char *name, kw_device **out_device) {
  kw_status status = kw_runtime_start();
  if (status != KW_OK) return status;
  if (out_device == NULL) return kw_fail(KW_ERR_INVALID_ARGUMENT, "kw_device_open: argument out_device is NULL");
  kw_plugin *plugin;
  uint32_t index;
  char shown[80];
  status = kw_device_name_resolve(name, &plugin, &index, shown);
  if (status == KW_ERR_NOT_FOUND && kw_runtime_try_again()) {
    status = kw_device_name_resolve(name, &plugin, &index, shown);
  }
  if (status != KW_OK) return status;
  bool first = false;
  status = kw_device_open_at(plugin, index, shown, &first, out_device);
  if (first) kw_exit_register();
  return status;
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

kw_status kw_device_rename(const char *from, const char *to) {
  kw_status status = kw_runtime_start();
  return status == KW_OK ? kw_device_name_change(from, to) : status;
}
