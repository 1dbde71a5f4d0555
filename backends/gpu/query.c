/* SPDX-License-Identifier: Apache-2.0 */
#include <keyway/gpu.h>

kw_status kw_gpu_answer_query(const kw_plugin_desc *desc, const kw_query_info *host, const kw_plugin_desc **out_plugin,
                              const char **out_reason) {
  if (KW_ABI_MAJOR(host->abi_max) != KW_ABI_MAJOR(KW_ABI_VERSION) || host->abi_min > KW_ABI_VERSION) {
    *out_reason =
        "this plugin was built for another version of Keyway's plugin ABI; install a plugin and a host of the same "
        "major version";
    return KW_ERR_ABI_MISMATCH;
  }
  *out_plugin = desc;
  return KW_OK;
}
