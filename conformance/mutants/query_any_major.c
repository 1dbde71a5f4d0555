/* SPDX-License-Identifier: Apache-2.0
 *
 * The function query serves hosts of every ABI version.
 */
#include "mutant.h"

static kw_status query(const kw_query_info *host, const kw_plugin_desc **out_plugin, const char **out_reason) {
  kw_query_info ours = *host;
  ours.abi_min = ours.abi_max = KW_ABI_VERSION;
  return kw_mutant_real.query(&ours, out_plugin, out_reason);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->query = query;
}
