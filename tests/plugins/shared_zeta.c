/* SPDX-License-Identifier: Apache-2.0
 *
 * One of two vendors that use the same device key.
 */
#define FIXTURE_KEY "shared"
#define FIXTURE_VENDOR "zeta"
#include "fixture.h"

#define FIXTURE_DEVICES 2
#define FIXTURE_TYPE KW_DEVICE_NPU
#include "fixture_plugin.h"
