/* SPDX-License-Identifier: Apache-2.0
 *
 * A plugin whose device flushes subnormals of a dtype that there is not.
 */
#define FIXTURE_KEY "info_mask"
#define FIXTURE_INFO_MORE(info) (info)->flush_subnormal.bits[1] = 2
#include "fixture.h"
#include "fixture_plugin.h"
