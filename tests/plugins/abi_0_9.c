/* SPDX-License-Identifier: Apache-2.0
 *
 * As a plugin built with the headers of ABI 0.9 says of itself, the last before 1.0: another major, so it is refused
 * before anything else of it is read.
 */
#define FIXTURE_KEY "old"
#include "fixture.h"

#define FIXTURE_ABI KW_ABI_MAKE(0, 9)
#include "fixture_plugin.h"
