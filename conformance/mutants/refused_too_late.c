/* SPDX-License-Identifier: Apache-2.0
 *
 * Init looks at the extensions once it has offered its kernels.
 */
#include "mutant.h"

static kw_status init(const kw_host_api *host, const kw_init_info *info, void **out_plugin) {
  kw_init_info bare = *info;
  bare.next = NULL;
  kw_status status = kw_mutant_real.desc.init(host, &bare, out_plugin);
  if (status != KW_OK || kw_ext_check(info->next, NULL, 0) == KW_OK) return status;
  kw_mutant_real.desc.shutdown(*out_plugin);
  *out_plugin = NULL;
  return KW_ERR_UNSUPPORTED;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->desc.init = init;
}
