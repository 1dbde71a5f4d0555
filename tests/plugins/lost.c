/* SPDX-License-Identifier: Apache-2.0
 *
 * Its first launch loses the device; opened again it works.
 */
#define FIXTURE_KEY "lost"
#include "fixture.h"

static int opens;

static kw_status open_counting(void *plugin, uint32_t index, const kw_open_info *info, void **out_device) {
  opens++;
  return fixture_open(plugin, index, info, out_device);
}

static kw_status launch_once_lost(const kw_call *call) {
  if (opens > 1) return fixture_add(call);
  return fixture_host->set_error(fixture_host->ctx, KW_ERR_DEVICE_LOST, "fixtureLaunch: the bus is gone");
}

#define FIXTURE_OPEN open_counting
#define FIXTURE_LAUNCH launch_once_lost
#include "fixture_plugin.h"
