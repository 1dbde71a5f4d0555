/* SPDX-License-Identifier: Apache-2.0
 *
 * A plugin that crashes while it is loaded, in a constructor.
 */
#include <signal.h>

#define FIXTURE_KEY "crash_constructor"
#include "fixture.h"

__attribute__((constructor)) static void crash(void) {
  raise(SIGSEGV);
}

#include "fixture_plugin.h"
