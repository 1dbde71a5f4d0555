/* SPDX-License-Identifier: Apache-2.0
 *
 * A plugin whose init calls the library, and fails unless that is refused with KW_ERR_BUSY.
 */
#include <dlfcn.h>

#define FIXTURE_KEY "calls_keyway"
#include "fixture.h"

static kw_status call_keyway(const kw_host_api *host, const kw_init_info *info, void **out_plugin) {
  (void)info;
  uint32_t count;
  kw_status (*device_count)(uint32_t * out_count);
  *(void **)&device_count = dlsym(RTLD_DEFAULT, "kw_device_count"); /* the helper has none */
  fixture_host = host;
  *out_plugin = &fixture_state;
  if (device_count == NULL || device_count(&count) == KW_ERR_BUSY) return KW_OK;
  return host->set_error(host->ctx, KW_ERR_INTERNAL, "kw_device_count was not refused");
}

#define FIXTURE_INIT call_keyway
#include "fixture_plugin.h"
