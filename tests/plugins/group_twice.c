/* SPDX-License-Identifier: Apache-2.0
 *
 * A plugin that names a group twice.
 */
#define FIXTURE_KEY "group_twice"
#include "fixture.h"

#define FIXTURE_MORE_GROUPS \
  { KW_GROUP_MEMORY, &fixture_memory_table }
#include "fixture_plugin.h"
