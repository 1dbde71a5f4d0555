/* SPDX-License-Identifier: Apache-2.0
 *
 * A plugin whose memory group ends before where it ended in 1.0.
 */
#define FIXTURE_KEY "short_table"
#include "fixture.h"

static const kw_memory_api memory = {.struct_size = offsetof(kw_memory_api, fill),
                                     .alloc = fixture_alloc,
                                     .dealloc = fixture_free,
                                     .copy = fixture_copy};

#define FIXTURE_MEMORY &memory
#include "fixture_plugin.h"
