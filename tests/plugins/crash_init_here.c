/* SPDX-License-Identifier: Apache-2.0
 *
 * A plugin whose init crashes in an application's process, and not in the helper's.
 */
#include <signal.h>
#include <stdlib.h>

#define FIXTURE_KEY "crash_init_here"
#include "fixture.h"

static void crash_here(void) {
  if (getenv("KEYWAY_IN_PROBE") == NULL) raise(SIGSEGV);
}

#define FIXTURE_INIT_START crash_here();
#include "fixture_plugin.h"
