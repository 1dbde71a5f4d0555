/* SPDX-License-Identifier: Apache-2.0
 *
 * A plugin whose probe never returns.
 */
#include <unistd.h>

#define FIXTURE_KEY "hang_probe"
#include "fixture.h"

static kw_status hang(const char **out_reason) {
  (void)out_reason;
  while (pause() < 0) continue;
  return KW_OK;
}

#define FIXTURE_PROBE hang
#include "fixture_plugin.h"
