/* SPDX-License-Identifier: Apache-2.0
 *
 * A kernel that does nothing, for measuring the way to it.
 */
#define FIXTURE_KEY "empty"
#include "fixture.h"

static kw_status launch_nothing(const kw_call *call) {
  (void)call;
  return KW_OK;
}

#define FIXTURE_LAUNCH launch_nothing
#include "fixture_plugin.h"
