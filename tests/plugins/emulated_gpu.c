/* SPDX-License-Identifier: Apache-2.0
 *
 * A gpu in name only: no policy may choose it.
 */
#define FIXTURE_KEY "emulated_gpu"
#include "fixture.h"

#define FIXTURE_TYPE KW_DEVICE_GPU
#define FIXTURE_FLAGS KW_DEVICE_EMULATED
#include "fixture_plugin.h"
