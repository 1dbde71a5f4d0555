/* SPDX-License-Identifier: Apache-2.0
 *
 * The function query answers with another plugin version each time.
 */
#include "mutant.h"

static kw_status query(const kw_query_info *host, const kw_plugin_desc **out_plugin, const char **out_reason) {
  static const char *const versions[] = {"1", "2"};
  static kw_plugin_desc answer;
  static unsigned asked;
  kw_status status = kw_mutant_real.query(host, out_plugin, out_reason);
  if (status != KW_OK) return status;
  answer = **out_plugin;
  answer.version = versions[asked++ % 2];
  *out_plugin = &answer;
  return KW_OK;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->query = query;
}
