/* SPDX-License-Identifier: Apache-2.0
 *
 * A plugin whose memory is always full.
 */
#define FIXTURE_KEY "oom"
#include "fixture.h"

static kw_status alloc_nothing(void *device, const kw_alloc_info *info, kw_mem *out_mem) {
  (void)device;
  (void)info;
  (void)out_mem;
  return fixture_host->set_error(fixture_host->ctx, KW_ERR_OUT_OF_MEMORY, "fixtureAlloc: arena is full");
}

#define FIXTURE_ALLOC alloc_nothing
#include "fixture_plugin.h"
