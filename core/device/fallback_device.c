/* SPDX-License-Identifier: Apache-2.0
 *
 * The device that computes what another one cannot.
 */
#include "device/fallback_device.h"

#include "base/error.h"
#include "base/fork.h"
#include "device/device_name.h"
#include "device/exit.h"
#include "device/open.h"

kw_device *kw_device_fallback(void) {
  kw_device *device = kw_exit_kept();
  if (device != NULL) return device;
  kw_plugin *plugin;
  uint32_t index;
  char name[80];
  bool first = false;
  const kw_options none = {0};
  kw_status status = kw_fork_check();
  if (status == KW_OK) status = kw_exit_check();
  if (status == KW_OK) status = kw_device_name_resolve("cpu:0", &plugin, &index, name);
  if (status == KW_OK) status = kw_device_open_at(plugin, index, name, &none, &first, &device);
  if (first) kw_exit_register();
  if (status == KW_OK) return kw_exit_keep(device);
  kw_wrap(status, "falling back to cpu:0 failed");
  return NULL;
}
