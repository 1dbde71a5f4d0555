/* SPDX-License-Identifier: Apache-2.0
 *
 * A plugin whose init fails with an error text of its own.
 */
#define FIXTURE_KEY "init_fail"
#include "fixture.h"

static kw_status fail(const kw_host_api *host, const kw_init_info *info, void **out_plugin) {
  (void)info;
  (void)out_plugin;
  return host->set_error(host->ctx, KW_ERR_TIMEOUT, "fixtureInit: the firmware does not answer");
}

#define FIXTURE_INIT fail
#include "fixture_plugin.h"
