/* SPDX-License-Identifier: Apache-2.0
 *
 * A plugin whose probe says no, and not why.
 */
#define FIXTURE_KEY "probe_silent"
#include "fixture.h"

static kw_status say_no(const char **out_reason) {
  (void)out_reason;
  return KW_ERR_NOT_FOUND;
}

#define FIXTURE_PROBE say_no
#include "fixture_plugin.h"
