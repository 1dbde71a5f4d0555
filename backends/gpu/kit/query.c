/* SPDX-License-Identifier: Apache-2.0 */
#include <keyway/gpu.h>

kw_status kw_gpu_answer_query(const kw_plugin_desc *desc, const kw_query_info *host, const kw_plugin_desc **out_plugin,
                              const char **out_reason) {
  if (KW_ABI_MAJOR(host->abi_max) != KW_ABI_MAJOR(KW_ABI_VERSION) || host->abi_min > KW_ABI_VERSION) {
    _Static_assert(KW_ABI_VERSION == KW_ABI_MAKE(0, 9), "the sentence names the version");
    *out_reason =
        "this plugin follows plugin ABI 0.9, which the host does not serve; install a plugin and a host of the same "
        "major version";
    return KW_ERR_ABI_MISMATCH;
  }
  *out_plugin = desc;
  return KW_OK;
}
