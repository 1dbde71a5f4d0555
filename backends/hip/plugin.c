/* SPDX-License-Identifier: Apache-2.0
 *
 * The HIP backend: every AMD GPU, with the portable kernel pack compiled by hipRTC. The HIP runtime and hipRTC are
 * opened at run time; what is used of them is declared here and in gpu/runtime.
 */
#include "product.h"

static kw_status init(const kw_host_api *host, void **out_plugin) {
  kw_status status = kw_rt_init(host, out_plugin);
  if (status != KW_OK) return status;
  status = kw_rt_products_register(host);
  if (status == KW_OK) status = kw_rt_linear_register(host);
  if (status != KW_OK) kw_rt_shutdown(*out_plugin);
  return status;
}

static const kw_group groups[] = {
    {KW_GROUP_DEVICE, &kw_rt_device_api}, {KW_GROUP_MEMORY, &kw_rt_memory_api}, {KW_GROUP_STREAM, &kw_rt_stream_api},
    {KW_GROUP_EVENT, &kw_rt_event_api},   {KW_GROUP_GRAPH, &kw_rt_graph_api},
};

static const kw_plugin_desc desc = {
    .struct_size = sizeof desc,
    .abi_version = KW_ABI_VERSION,
    .key = "hip",
    .vendor = "keyway",
    .version = "0.9.0",
    .description = "AMD GPUs through the HIP runtime, with portable kernels",
    .build = __VERSION__,
    .sanitizer = KW_GPU_SANITIZER,
    .probe = kw_rt_probe,
    .init = init,
    .shutdown = kw_rt_shutdown,
    .groups = groups,
    .group_count = sizeof groups / sizeof groups[0],
};

kw_status keyway_plugin_query(const kw_query_info *host, const kw_plugin_desc **out_plugin, const char **out_reason) {
  return kw_gpu_answer_query(&desc, host, out_plugin, out_reason);
}
