/* SPDX-License-Identifier: Apache-2.0 */
#define FIXTURE_KEY "missing_slot"
#include "fixture.h"

#define FIXTURE_COPY NULL
#include "fixture_plugin.h"
