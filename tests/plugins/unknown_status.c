/* SPDX-License-Identifier: Apache-2.0
 *
 * A plugin whose device opens with a number that is no status.
 */
#define FIXTURE_KEY "unknown_status"
#include "fixture.h"

static kw_status open_oddly(void *plugin, uint32_t index, const kw_open_info *info, void **out_device) {
  (void)info;
  (void)plugin;
  (void)index;
  (void)out_device;
  return 99;
}

#define FIXTURE_OPEN open_oddly
#include "fixture_plugin.h"
