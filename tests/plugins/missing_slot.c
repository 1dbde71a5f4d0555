/* SPDX-License-Identifier: Apache-2.0
 *
 * A plugin that lacks a required slot, memory.copy.
 */
#define FIXTURE_KEY "missing_slot"
#include "fixture.h"

#define FIXTURE_COPY NULL
#include "fixture_plugin.h"
