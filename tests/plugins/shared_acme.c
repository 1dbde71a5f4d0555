/* SPDX-License-Identifier: Apache-2.0
 *
 * One of two vendors that use the same device key, for the same chips.
 */
#define FIXTURE_KEY "shared"
#define FIXTURE_VENDOR "acme"
#include "fixture.h"

#define FIXTURE_DEVICES 2
#define FIXTURE_TYPE KW_DEVICE_NPU
#define FIXTURE_INFO_MORE(info) snprintf((info)->stable_id, sizeof(info)->stable_id, "slot:%u", index)
#include "fixture_plugin.h"
