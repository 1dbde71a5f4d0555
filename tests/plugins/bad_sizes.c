/* SPDX-License-Identifier: Apache-2.0
 *
 * A plugin whose memory group says an impossible struct_size.
 */
#define FIXTURE_KEY "bad_sizes"
#include "fixture.h"

static const kw_memory_api memory = {
    .struct_size = 0xdeadbeef, .alloc = fixture_alloc, .dealloc = fixture_free, .copy = fixture_copy};

#define FIXTURE_MEMORY &memory
#include "fixture_plugin.h"
