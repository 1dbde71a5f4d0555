/* SPDX-License-Identifier: Apache-2.0
 *
 * A plugin whose texts hold control characters: a terminal's colours, a bell, a line break, C1.
 */
#define FIXTURE_KEY "control_texts"
#define FIXTURE_DESCRIPTION "red \x1b[31m bell \a break \n c1 \xc2\x9b tab\tend"
#include "fixture.h"

static kw_status init_and_log(const kw_host_api *host, const kw_init_info *info, void **out_plugin) {
  (void)info;
  fixture_host = host;
  *out_plugin = &fixture_state;
  return host->log(host->ctx, KW_LOG_ERROR, "logged \x1b]0;title\a\r\n");
}

#define FIXTURE_INIT init_and_log
#define FIXTURE_INFO_MORE(info) snprintf((info)->name, sizeof(info)->name, "chip \x1b[2J")
#include "fixture_plugin.h"
