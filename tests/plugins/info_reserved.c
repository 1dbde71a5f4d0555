/* SPDX-License-Identifier: Apache-2.0
 *
 * A plugin that tells of its device in a field that is reserved.
 */
#define FIXTURE_KEY "info_reserved"
#define FIXTURE_INFO_MORE(info) (info)->reserved = 7
#include "fixture.h"
#include "fixture_plugin.h"
