/* SPDX-License-Identifier: Apache-2.0
 *
 * A plugin without faults, with two devices.
 */
#define FIXTURE_KEY "plain"
#include "fixture.h"

#define FIXTURE_DEVICES 2
#include "fixture_plugin.h"
