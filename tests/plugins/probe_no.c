/* SPDX-License-Identifier: Apache-2.0
 *
 * A plugin whose probe finds no hardware, and says why.
 */
#define FIXTURE_KEY "probe_no"
#include "fixture.h"

static kw_status say_no(const char **out_reason) {
  *out_reason = "no fixture chip is plugged in: plug one in";
  return KW_ERR_NOT_FOUND;
}

#define FIXTURE_PROBE say_no
#include "fixture_plugin.h"
