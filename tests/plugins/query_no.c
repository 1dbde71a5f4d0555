/* SPDX-License-Identifier: Apache-2.0
 *
 * Says itself that it cannot serve the host's range.
 */
#include <keyway/plugin.h>

KW_PLUGIN_EXPORT kw_status keyway_plugin_query(const kw_query_info *host, const kw_plugin_desc **out_plugin,
                                               const char **out_reason) {
  (void)host;
  (void)out_plugin;
  *out_reason = "this plugin needs plugin ABI 7.0 or later";
  return KW_ERR_ABI_MISMATCH;
}
