/* SPDX-License-Identifier: Apache-2.0
 *
 * A plugin that crashes in its query.
 */
#include <signal.h>

#define FIXTURE_KEY "crash_query"
#include "fixture.h"

#define FIXTURE_QUERY_START raise(SIGSEGV);
#include "fixture_plugin.h"
