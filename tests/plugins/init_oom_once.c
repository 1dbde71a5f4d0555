/* SPDX-License-Identifier: Apache-2.0
 *
 * A plugin whose init is out of memory at the first try in an application's process and succeeds at the second.
 */
#include <stdlib.h>

#define FIXTURE_KEY "init_oom_once"
#include "fixture.h"

static kw_status fail_once(const kw_host_api *host, const kw_init_info *info, void **out_plugin) {
  (void)info;
  static int inits;
  fixture_host = host;
  *out_plugin = &fixture_state;
  if (getenv("KEYWAY_IN_PROBE") != NULL || ++inits > 1) return KW_OK;
  return host->set_error(host->ctx, KW_ERR_OUT_OF_MEMORY, "fixtureInit: no room for the firmware");
}

#define FIXTURE_INIT fail_once
#include "fixture_plugin.h"
