/* SPDX-License-Identifier: Apache-2.0
 *
 * A plugin that puts something of its own into a field that is reserved.
 */
#define FIXTURE_KEY "reserved_set"
#include "fixture.h"

static const kw_memory_api memory = {
    .struct_size = sizeof memory, .reserved = 7, .alloc = fixture_alloc, .dealloc = fixture_free, .copy = fixture_copy};

#define FIXTURE_MEMORY &memory
#include "fixture_plugin.h"
