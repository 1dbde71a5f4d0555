/* SPDX-License-Identifier: Apache-2.0
 *
 * Each device that is opened brings one more, up to three; then it says that there are fewer.
 */
#define FIXTURE_KEY "grows"
#include "fixture.h"

static uint32_t devices = 1;

static kw_status open_and_grow(void *plugin, uint32_t index, const kw_open_info *info, void **out_device) {
  devices = devices == 3 ? 2 : devices + 1;
  kw_status status = fixture_host->devices_changed(fixture_host->ctx);
  return status == KW_OK ? fixture_open(plugin, index, info, out_device) : status;
}

#define FIXTURE_DEVICES devices
#define FIXTURE_OPEN open_and_grow
#include "fixture_plugin.h"
