/* SPDX-License-Identifier: Apache-2.0
 *
 * Has no device, and says why in its init, as a backend does that refuses the driver it found.
 */
#define FIXTURE_KEY "without_device"
#include "fixture.h"

#define FIXTURE_DEVICES 0
#define FIXTURE_INIT_START                            \
  host->log(host->ctx, KW_LOG_INFO, "there was one"); \
  host->log(host->ctx, KW_LOG_WARN, "the driver of the fixture gives wrong numbers");
#include "fixture_plugin.h"
