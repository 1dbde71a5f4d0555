/* SPDX-License-Identifier: Apache-2.0
 *
 * Each start of the plugin keeps 64 KiB that shutdown does not free.
 */
#include "mutant.h"

static kw_status init(const kw_host_api *host, const kw_init_info *info, void **out_plugin) {
  kw_mutant_lose_memory(1 << 16);
  return kw_mutant_real.desc.init(host, info, out_plugin);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->desc.init = init;
}
