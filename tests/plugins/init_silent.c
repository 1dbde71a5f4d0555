/* SPDX-License-Identifier: Apache-2.0
 *
 * A plugin whose init fails without a text.
 */
#define FIXTURE_KEY "init_silent"
#include "fixture.h"

static kw_status fail(const kw_host_api *host, const kw_init_info *info, void **out_plugin) {
  (void)host;
  (void)info;
  (void)out_plugin;
  return KW_ERR_OUT_OF_MEMORY;
}

#define FIXTURE_INIT fail
#include "fixture_plugin.h"
