/* SPDX-License-Identifier: Apache-2.0
 *
 * Another major: only the first two members are where this host expects them.
 */
#include <keyway/plugin.h>

static const struct {
  uint32_t struct_size;
  uint32_t abi_version;
  uint64_t other_things[16];
} descriptor = {sizeof descriptor, KW_ABI_MAKE(9, 0), {UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX}};

KW_PLUGIN_EXPORT kw_status keyway_plugin_query(const kw_query_info *host, const kw_plugin_desc **out_plugin,
                                               const char **out_reason) {
  (void)host;
  (void)out_reason;
  *out_plugin = (const kw_plugin_desc *)(const void *)&descriptor;
  return KW_OK;
}
