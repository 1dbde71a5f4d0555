/* SPDX-License-Identifier: Apache-2.0 */
#define FIXTURE_KEY "plain"
#include "fixture.h"

#define FIXTURE_DEVICES 2
#include "fixture_plugin.h"
